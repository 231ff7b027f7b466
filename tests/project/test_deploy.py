"""The samples in ``deploy/`` and the steps that use them: what they call and name exists."""

from __future__ import annotations

import re
import shlex
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands, load_command_class
from django.urls import reverse

from config.command import SERVERS
from config.env import ROOT
from config.logs import OF_OURS
from config.serve import web_command
from labeling.conversations.forms.uploads import MAX_BYTES

DEPLOY = ROOT / "deploy"
DOCS = ROOT / "templates/docs"
FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file())
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
KEYS = [reverse("invitation", args=["secret"]), reverse("password-set", args=["MQ", "token"])]
"""Addresses that are keys: no log may have them."""

PAGES = [reverse("home"), reverse("password-change"), "/healthz"]


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def commands() -> list[tuple[str, str]]:
    """Where a command of Assay is called, and with what."""
    places = [(path.name, text_of(path)) for path in FILES]
    blocks = re.findall(r"^    (.+)$", text_of(DOCS / "deploying.md"), re.M)
    places.append(("deploying.md", "\n".join(blocks)))
    called = [
        (name, line.split("  #")[0].strip())
        for name, text in places
        for line in re.findall(r"^(?:ExecStart=)?(?:/opt/assay/bin/)?assay (\S.*)$", text, re.M)
    ]
    compose = yaml.safe_load(text_of(DEPLOY / "compose.yaml"))["services"]
    ours = [compose[name]["command"] for name in ("migrate", "web", "worker")]
    return called + [("compose.yaml", shlex.join(command)) for command in ours]


@pytest.mark.parametrize(("place", "command"), commands())
def test_each_command_exists_and_takes_its_options(place: str, command: str) -> None:
    name, *options = shlex.split(command)
    if name in SERVERS:
        assert all(option.startswith("-") or n for n, option in enumerate(options))
        return
    name = name.replace("-", "_")
    parser = load_command_class(get_commands()[name], name).create_parser("assay", name)
    parser.parse_args(options)  # ends the test if it does not take them


def test_commands_are_found_at_all() -> None:
    assert {"deploying.md", "compose.yaml", "assay-web.service", "assay-backup.service"} <= {
        place for place, _ in commands()
    }


def test_each_setting_exists() -> None:
    known = set(re.findall(r"`([A-Z][A-Z_]+)(?:=[^`]*)?`", text_of(DOCS / "settings.md")))
    used = {
        name
        for path in FILES
        for name in re.findall(r"\b(?:ASSAY|LLM|DATABASE|CELERY)_[A-Z_]+\b", text_of(path))
    }
    assert len(used) > 15
    assert used - known - {"ASSAY_ENV_FILE"} == set()


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_a_service_runs_as_its_account_and_may_do_little(unit: Path) -> None:
    lines = set(text_of(unit).splitlines())
    assert {
        "User=assay",
        "NoNewPrivileges=true",
        "ProtectSystem=strict",
        "ProtectHome=true",
        "PrivateTmp=true",
        "CapabilityBoundingSet=",
        "SystemCallFilter=@system-service",
        "StateDirectoryMode=0700",
        "EnvironmentFile=/etc/assay/assay.env",
    } <= lines
    assert ("Type=oneshot" in lines) != ("Restart=always" in lines)
    folder = re.search(r"^Environment=ASSAY_DATA_DIR=/var/lib/(\S+)$", text_of(unit), re.M)
    states = re.search(r"^StateDirectory=(.+)$", text_of(unit), re.M)
    assert folder[1] in states[1].split()


def test_the_target_starts_what_is_there() -> None:
    (wants,) = re.findall(r"^Wants=(.+)$", text_of(DEPLOY / "systemd/assay.target"), re.M)
    names = {path.name for path in (DEPLOY / "systemd").iterdir()}
    assert {re.sub(r"@\d+", "@", name) for name in wants.split()} <= names


def test_containers_refer_to_what_is_there() -> None:
    compose = yaml.safe_load(text_of(DEPLOY / "compose.yaml"))
    services = compose["services"]
    assert set(services) == {"database", "redis", "migrate", "web", "worker", "proxy"}
    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= set(services), name
        assert set(service.get("secrets", [])) <= set(compose["secrets"]), name
        assert set(service["networks"]) <= set(compose["networks"]), name
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            known = (DEPLOY / source).exists() if source[0] == "." else source in compose["volumes"]
            assert known, (name, source)
        waited = [each["condition"] for each in service.get("depends_on", {}).values()]
        assert set(waited) <= {"service_healthy", "service_completed_successfully"}
    for name in ("database", "redis", "web", "proxy"):
        assert services[name]["healthcheck"]["test"], name
    read = re.findall(r"/run/secrets/(\w+)", text_of(DEPLOY / "compose.env"))
    assert set(read) == set(services["web"]["secrets"])
    assert (DEPLOY / services["web"]["build"]["dockerfile"].removeprefix("deploy/")).exists()
    assert services["web"]["env_file"] == "compose.env"


def test_secrets_are_neither_in_the_repository_nor_in_the_image() -> None:
    compose = yaml.safe_load(text_of(DEPLOY / "compose.yaml"))
    assert {secret["file"].split("/")[0] for secret in compose["secrets"].values()} == {"secrets"}
    assert "deploy/secrets/" in text_of(ROOT / ".gitignore").splitlines()
    assert "deploy/secrets" in text_of(DEPLOY / "Containerfile.dockerignore").splitlines()


def test_the_image_holds_the_wheel_and_runs_as_nobody_in_particular(settings: Any) -> None:
    lines = text_of(DEPLOY / "Containerfile").splitlines()
    stages = [line for line in lines if line.startswith("FROM ")]
    assert len(stages) == 2
    assert all("python:3.11-" in stage for stage in stages)
    last = lines[lines.index(stages[1], lines.index(stages[0]) + 1) :]
    assert "COPY --from=build /wheels /wheels" in last
    assert last.index("USER 10001:10001") < last.index('ENTRYPOINT ["assay"]')


# --- proxies --------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", KEYS)
def test_addresses_that_are_keys_stay_out_of_logs(address: str) -> None:
    assert OF_OURS.search(address.replace("token", "t" * 20).replace("secret", "s" * 20))
    location, block = _hiding_location()
    assert re.search(location, address)
    assert {"access_log off;", "error_log /dev/null crit;"} <= block
    assert any(fnmatch(address, pattern) for pattern in _skipped())


@pytest.mark.parametrize("address", PAGES)
def test_other_addresses_stay_in_them(address: str) -> None:
    assert not re.search(_hiding_location()[0], address)
    assert not any(fnmatch(address, pattern) for pattern in _skipped())


def _hiding_location() -> tuple[str, set[str]]:
    pattern = r"location ~ (\S+) \{\n(.+?)\n    \}"
    ((location, block),) = re.findall(pattern, text_of(DEPLOY / "nginx/assay.conf"), re.S)
    return location, {line.strip() for line in block.splitlines()}


def _skipped() -> list[str]:
    """Only if they are skipped at all."""
    (paths,) = re.findall(
        r"@keys path (.+)\n(?:\t#.*\n)?\tskip_log @keys\n", text_of(DEPLOY / "caddy/Caddyfile")
    )
    return list(paths.split())


def test_what_callers_say_of_themselves_is_replaced_and_pages_are_not_logged_as_origin() -> None:
    nginx, caddy = text_of(DEPLOY / "nginx/assay.conf"), text_of(DEPLOY / "caddy/Caddyfile")
    for header, value in {
        "X-Forwarded-For": "$remote_addr",
        "X-Forwarded-Proto": "$scheme",
        "X-Forwarded-Host": '""',
        "X-Request-ID": "$request_id",
    }.items():
        assert f"proxy_set_header {header} {value};" in nginx
    assert "header_up X-Forwarded-For {remote_host}" in caddy
    assert "header_up X-Forwarded-Proto {scheme}" in caddy
    assert "header_up X-Request-ID {http.request.uuid}" in caddy
    assert "http_referer" not in nginx
    assert "request>headers delete" in caddy


def test_a_page_takes_several_of_the_largest_files() -> None:
    (nginx,) = re.findall(r"client_max_body_size (\d+)m;", text_of(DEPLOY / "nginx/assay.conf"))
    (caddy,) = re.findall(r"max_size (\d+)MB", text_of(DEPLOY / "caddy/Caddyfile"))
    assert min(int(nginx) * 1024**2, int(caddy) * 1000**2) > 4 * MAX_BYTES


def test_a_proxy_closes_an_idle_connection_before_the_web_server_does() -> None:
    """Otherwise a request that crosses the closing is answered with 502."""
    command = web_command("127.0.0.1", 8000)
    ours = int(command[command.index("--keep-alive") + 1])
    (nginx,) = re.findall(
        r"^    keepalive_timeout (\d+)s;", text_of(DEPLOY / "nginx/assay.conf"), re.M
    )
    (caddy,) = re.findall(r"^\t+keepalive (\d+)s$", text_of(DEPLOY / "caddy/Caddyfile"), re.M)
    assert max(int(nginx), int(caddy)) + 10 <= ours


def test_an_installation_takes_packages_by_hash_and_torch_from_its_own_site() -> None:
    """An index that is asked beside the usual one is passed over silently when it is away."""
    lines = (
        r"pip install .*--no-deps --require-hashes --requirement \S*requirements.lock",
        r"pip install .*--index-url \S+ \"\$\(grep -o 'torch==\[0-9.\]\*' \S*pyproject.toml\)\"",
        r"pip install .*--no-deps \S+\.whl",
    )
    pattern = r"(?: \\)?\n +(?:&& |/opt/assay/bin/)".join(lines)
    texts = {path: text_of(path) for path in (DOCS / "deploying.md", DEPLOY / "Containerfile")}
    found = [len(re.findall(pattern, text)) for text in texts.values()]
    assert found == [2, 1]
    assert not any("--extra-index-url" in text for text in texts.values())
