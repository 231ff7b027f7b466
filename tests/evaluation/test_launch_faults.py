"""A launch that makes no sense: the same fault at the same field, whichever way it comes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.models import Run
from evaluation.services.launch import batches, config_files, launch
from evaluation.services.launch.launch import LaunchRefused, LaunchRequest
from labeling.models import GoldRelease
from labeling.words import in_english

Faults = dict[str, str]
"""The sentence of each faulty field."""

FAULTY: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "repetitions": ({"repetitions": 500}, {"repetitions": "launch.repetitions"}),
    "seed": ({"seed": -1}, {"seed": "launch.seed"}),
    "reason": ({"split": "test"}, {"reason": "launch.reason_missing"}),
    "split": ({"split": "train"}, {"split": "launch.split_empty"}),
    "setting": ({"config": {"confidence": 2.0}}, {"config.confidence": "pipeline.invalid_setting"}),
    "layer": ({"pipeline": "events-local"}, {"pipeline": "launch.layer_not_made"}),
    "name": ({"name": "x" * 201}, {"name": "launch.name_too_long"}),
    "tokens": ({"budget_tokens": 5}, {"budget_tokens": "launch.budget_without_model"}),
    "money": ({"budget_cost": 5.0}, {"budget_cost": "launch.budget_without_model"}),
    "answers": ({"evaluate_answers": True}, {"evaluate_answers": ""}),
    "several": (
        {"repetitions": 0, "seed": 2**31},
        {"repetitions": "launch.repetitions", "seed": "launch.seed"},
    ),
}


@pytest.fixture
def release(make_release: Any) -> GoldRelease:
    return make_release(4, splits=("dev", "test"))


def expected(release: GoldRelease, fields: dict[str, Any], codes: Faults) -> Faults:
    """As the one check says it."""
    faults = launch.check(LaunchRequest(release=release, **fields))
    assert [fault.field for fault in faults] == list(codes)
    for fault in faults:
        assert not codes[fault.field] or fault.fact.code == codes[fault.field]
    return {fault.field: in_english(fault.fact) for fault in faults}


def of_form(form: Any, pipeline: str) -> Faults:
    return {
        re.sub(f"^{pipeline}[.]", "config.", field): " ".join(sentences)
        for field, sentences in form.errors.items()
    }


def form_data(fields: dict[str, Any]) -> dict[str, Any]:
    """As a browser sends it."""
    pipeline = fields["pipeline"]
    config = {f"{pipeline}.{name}": one for name, one in fields.get("config", {}).items()}
    sent = {name: one for name, one in fields.items() if name != "config"} | config
    return {name: "on" if one is True else one for name, one in sent.items()}


def by_page(release: GoldRelease, fields: dict[str, Any], sign_in: Any, folder: Path) -> Faults:
    data = {"release": release.pk, **form_data(fields)}
    response = sign_in("noor").post(reverse("run-new"), data)
    assert response.status_code == 422
    return of_form(response.context["form"], fields["pipeline"])


def by_api(release: GoldRelease, fields: dict[str, Any], sign_in: Any, folder: Path) -> Faults:
    body = json.dumps({"gold": release.name, **fields})
    response = sign_in("noor").post(reverse("api-runs"), body, content_type="application/json")
    faults = response.json()["details"]["fields"]
    assert response.status_code == (403 if "reason" in faults else 400)
    first = next(iter(faults.values()))
    request = LaunchRequest(release=release, **fields)
    known = {fault.field: fault for fault in launch.check(request)}
    assert response.json()["message"] == in_english(known[next(iter(faults))].fact)
    assert {"code", "values"} == set(first[0])
    return {
        name: in_english(known[name].fact)
        for name, facts in faults.items()
        if facts == [known[name].fact.as_json()]
    }


def by_command(release: GoldRelease, fields: dict[str, Any], sign_in: Any, folder: Path) -> Faults:
    arguments = ["--gold", release.name]
    for name, value in fields.items():
        if name == "split":
            arguments.append(f"--{value}-only")
        elif name == "config":
            file = folder / "settings.yaml"
            file.write_text(yaml.safe_dump(value))
            arguments += ["--config", str(file)]
        elif value is True:
            arguments.append(f"--{name.replace('_', '-')}")
        else:
            option = {"budget_cost": "budget"}.get(name, name).replace("_", "-")
            arguments.append(f"--{option}={value}")
    with pytest.raises(CommandError) as caught:
        call_command("evaluate", *arguments)
    cause = caught.value.__cause__
    assert isinstance(cause, LaunchRefused)
    for fault in cause.faults:
        assert in_english(fault.fact) in str(caught.value)
    return {fault.field: in_english(fault.fact) for fault in cause.faults}


def by_file(release: GoldRelease, fields: dict[str, Any], sign_in: Any, folder: Path) -> Faults:
    agent = {
        {"config": "settings", "budget_cost": "budget"}.get(name, name): value
        for name, value in fields.items()
        if name not in ("split", "seed", "name")
    }
    content = {
        "datasets": {"d": {"gold": release.name} | _only(fields, "split")},
        "agents": {"a": agent | {"datasets": ["d"]}},
        **_only(fields, "seed", "name"),
    }
    path = folder / "runs.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    file = config_files.read(path)
    with pytest.raises(config_files.ConfigRefused) as caught:
        batches.requests(file)
    faults = caught.value.faults
    for fault in faults:
        assert f": {in_english(fault.fact)}" in in_english(caught.value.fact)
    return {fault.field: in_english(fault.fact) for fault in faults}


def _only(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in names}


@pytest.mark.parametrize("entrance", [by_page, by_api, by_command, by_file])
def test_the_same_faulty_launch_gives_the_same_faults_everywhere(
    release, entrance, settings, signed_in, tmp_path
):
    settings.LLM_MODEL, settings.LLM_API_KEY = "m", "k"
    settings.LLM_INPUT_PRICE = settings.LLM_OUTPUT_PRICE = 1.0
    for name, (changed, codes) in FAULTY.items():
        if entrance is by_file and name == "name":
            continue  # the shape of a file has its own limit of a name
        fields = {"pipeline": "everything", "split": "dev", **changed}
        said = entrance(release, fields, signed_in, tmp_path)
        assert said == expected(release, fields, codes), name
    assert not Run.objects.exists()
