"""Settings come from outside, and what cannot be read is said at once and in words."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import celery, env
from config.env import ROOT
from labeling.gold.rules.signatures import is_key, make_key


@pytest.fixture
def env_file(tmp_path, monkeypatch):
    """Writes the file that stands for ``.env``."""
    path = tmp_path / "env"
    monkeypatch.setenv("ASSAY_ENV_FILE", str(path))

    def write(text: str) -> Path:
        path.write_text(text, encoding="utf-8")
        env._file_values.cache_clear()
        return path

    yield write
    env._file_values.cache_clear()


@pytest.mark.parametrize(
    ("read", "value", "sentence"),
    [
        (lambda: env.env_bool("X", False), "maybe", "X is 'maybe': set it to true or false."),
        (lambda: env.env_int("X", 1), "ten", "X is 'ten': set it to a whole number."),
        (lambda: env.env_int("X", 1), "1.5", "X is '1.5': set it to a whole number."),
        (lambda: env.env_int("X", 5, minimum=2), "1", "whole number of at least 2."),
        (lambda: env.env_float("X", 1.0), "dear", "X is 'dear': set it to a number from 0 on."),
        (lambda: env.env_float("X", 1.0, 0.5), "0.1", "to a number from 0.5 on."),
        (lambda: env.env_optional_float("X"), "nan", "set it to a number from 0 on."),
        (lambda: env.env_secret("X"), "s", "X and X_FILE are both set: keep one of them."),
    ],
)
def test_a_value_that_cannot_be_read_is_said_in_a_sentence(monkeypatch, read, value, sentence):
    monkeypatch.setenv("X", value)
    monkeypatch.setenv("X_FILE", "/secret")

    with pytest.raises(ImproperlyConfigured, match=re.escape(sentence)):
        read()


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_value_counts_as_not_set(monkeypatch, value):
    monkeypatch.setenv("X", value)

    assert env.env_bool("X", True) is True
    assert env.env_int("X", 7) == 7
    assert env.env_list("X", ["a"]) == ["a"]
    assert env.env_str("X", "a") == "a"
    assert env.env_secret("X") is None


def test_values_are_typed(monkeypatch):
    monkeypatch.setenv("X", " 12 ")
    monkeypatch.setenv("YES", "On")
    monkeypatch.setenv("LIST", "a, b,,c ")

    assert env.env_int("X", 1) == 12
    assert env.env_bool("YES", False) is True
    assert env.env_list("LIST", []) == ["a", "b", "c"]


def test_a_relative_path_starts_at_the_project(monkeypatch):
    monkeypatch.setenv("X", "data/here")

    assert env.env_path("X", ".data") == ROOT / "data/here"


def test_a_secret_may_stand_in_a_file(monkeypatch, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("s3cret\n", encoding="utf-8")
    monkeypatch.setenv("X_FILE", str(secret))

    assert env.env_secret("X") == "s3cret"


@pytest.mark.parametrize("content", [None, "", b"\xff\xfe"])
def test_a_secret_file_that_holds_no_secret_is_refused(monkeypatch, tmp_path, content):
    secret = tmp_path / "secret"
    if content is not None:
        secret.write_bytes(content.encode() if isinstance(content, str) else content)
    monkeypatch.setenv("X_FILE", str(secret))

    with pytest.raises(ImproperlyConfigured, match="X_FILE names"):
        env.env_secret("X")


def test_the_environment_beats_the_file(monkeypatch, env_file):
    env_file("# a comment\n\nX=from file\nexport Y='quoted # value'\n")
    monkeypatch.setenv("X", "from environment")

    assert env.env_str("X") == "from environment"
    assert env.env_str("Y") == "quoted # value"


def test_a_line_of_the_file_that_is_no_setting_is_named(env_file):
    path = env_file("X=1\nthis is not a setting\n")

    with pytest.raises(ImproperlyConfigured, match=re.escape(f"{path}:2 is not NAME=value")):
        env.env_str("X")


def read_gold_key(folder: Path, **variables: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", "import config.settings as s; print(s.GOLD_KEY)"],
        cwd=ROOT,
        env=os.environ | {"ASSAY_DATA_DIR": str(folder), "ASSAY_ENV_FILE": os.devnull} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_that_start_at_once_make_one_key_that_nobody_else_reads(tmp_path):
    starts = [read_gold_key(tmp_path) for _ in range(2)]
    keys = {start.communicate()[0].strip() for start in starts}

    assert keys == {(tmp_path / "gold_key").read_text()}
    assert is_key(*keys)
    assert (tmp_path / "gold_key").stat().st_mode & 0o777 == 0o600


def test_machines_share_a_key_by_the_environment_and_a_wrong_one_stops_the_start(tmp_path):
    key = make_key()
    shared = read_gold_key(tmp_path, ASSAY_GOLD_KEY=key)
    wrong = read_gold_key(tmp_path, ASSAY_GOLD_KEY="secret")
    untrusted = read_gold_key(tmp_path, ASSAY_GOLD_TRUSTED_KEYS="ab:cd")

    assert shared.communicate()[0].strip() == key
    assert "is not a key: give it 32 random bytes" in wrong.communicate()[1]
    assert "ASSAY_GOLD_TRUSTED_KEYS has 'ab:cd'" in untrusted.communicate()[1]


COUNT = """
import numpy
from threadpoolctl import threadpool_info
print(max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"))
"""


def test_numpy_takes_one_thread_unless_somebody_says_otherwise():
    assert threads("import django; django.setup()") == "1"
    assert threads("import pipelines", OPENBLAS_NUM_THREADS="2") == "2"


def threads(start: str, **said: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("NUM_THREADS")}
    environment = {**kept, "DJANGO_SETTINGS_MODULE": "config.settings", **said}
    command = [sys.executable, "-c", start + COUNT]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_database_is_refused_as_broker_with_what_to_do(settings):
    settings.CELERY_BROKER_URL = "sqla+postgresql://host/name"

    with pytest.raises(ImproperlyConfigured, match="use Redis, or leave it out"):
        celery._broker()
