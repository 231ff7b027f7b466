"""From answers to frozen gold, for every layer; what labels refer to must be in the gold, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from labeling.exchange.export import FORMATS, export
from labeling.gold import gold
from labeling.gold.verification import verify
from labeling.models import Adjudication, GoldRelease, Project
from labeling.settling import adjudications, merges
from labeling.work.annotations import InvalidPayload
from tests import factories
from tests.labeling import imports
from tests.layers import arc, event, inferred, issue, phase, question, rating
from tests.pages import page

pytestmark = pytest.mark.postgres

ANNOTATORS = ("ana", "ben", "cleo")
STAGES = ["extraction", "inference", "validation"]
Payload = dict[str, Any]


def own(who: str, **fields: Any) -> dict[str, Any]:
    """The requirement that all have, each under a uid of their own."""
    return factories.requirement(1, uid=f"{who}-1", **fields)


def staged(who: str) -> Payload:
    return {
        "requirements": [own(who)],
        "inferred_requirements": [inferred("Encrypt", triggered_by=[f"{who}-1"], uid=f"{who}-i")],
        "issues": [issue(f"{who}-1", uid=f"{who}-v")],
    }


def rated(who: str) -> Payload:
    return {"requirements": [own(who)], "ratings": [rating(f"{who}-1", 2)]}


def asked(who: str) -> Payload:
    return {"questions": [question("What do they track", evidence=[0, 2], uid=f"{who}-q")]}


def told(who: str) -> Payload:
    phases = [phase("Start", [0]), phase("End", [3])]
    return {"arcs": [arc("How did it go", *phases, uid=f"{who}-a")]}


def happened(who: str) -> Payload:
    return {"events": [event(0, ("what", "order 0"), uid=f"{who}-e")]}


GIVEN: dict[str, tuple[list[str], Callable[[str], Payload]]] = {
    "extraction": (STAGES, staged),
    "inference": (STAGES, staged),
    "validation": (STAGES, staged),
    "qa": (["qa"], asked),
    "arc": (["arc"], told),
    "events": (["events"], happened),
    "relevance": (["extraction", "relevance"], rated),
    "end_to_end": (STAGES, staged),
}


def labeled(layers: list[str], given: Callable[[str], Payload]) -> Project:
    schema = {"tracking": ["what", "who"]} if "events" in layers else {}
    project = factories.make_project(layers=layers, event_schema=schema)
    factories.answer_each(factories.open_full(project, 1), given)
    return project


def merge(project: Project) -> None:
    merges.merge(project, ruler=factories.ruler)


def decide(
    project: Project, layer: str, labels: list[Any], *, by: User, added: list[Any] | None = None
) -> Adjudication:
    result = project.conversations.get()
    standing = merges.ready(project, layer)[result.pk]
    decision = adjudications.Decision(
        standing.answers_sha256, labels, added or [], kind="error", note="Message 0 says so"
    )
    return adjudications.decide_clusters(conversation=result, layer=layer, decision=decision, by=by)


def clusters(project: Project, layer: str) -> list[Any]:
    merge(project)
    return merges.read(project.conversations.get().merges.get(layer=layer)).clusters


@pytest.mark.parametrize("layer", GIVEN)
def test_gold_of_every_layer_is_whole_is_shown_exported_and_comes_back_with_its_hashes(
    tmp_path, layer, researcher
):
    release = factories.freeze(labeled(*GIVEN[layer]), layer)
    document = release.items.get().content
    gold_labels = [label for labels in document["gold"].values() for label in labels]
    given = [label for labels in document.get("given", {}).values() for label in labels]
    named = {
        uid
        for label in gold_labels
        for uid in [*label.get("triggered_by", []), label.get("requirement"), label.get("target")]
        if uid
    }
    assert named <= {label["uid"] for label in [*gold_labels, *given]}
    assert bool(named) == (layer in ("inference", "validation", "relevance", "end_to_end"))
    shown = page(researcher, f"{release.get_absolute_url()}items/c-001/")
    assert "unanimous held by annotator-1, annotator-2, annotator-3" in shown
    assert page(researcher, release.get_absolute_url())
    for format in set(FORMATS) - {"native"}:
        folder = tmp_path / format
        written = export(release, format=format, folder=folder)
        assert all(path.stat().st_size for path in written)
    export(release, format="native", folder=tmp_path / "native")
    imports.run("import_gold", tmp_path / "native", project="elsewhere", layer=layer)
    back = GoldRelease.objects.get(project__slug="elsewhere")
    kept = ("canonical", "sha256")
    assert [*back.items.values_list(*kept)] == [*release.items.values_list(*kept)]
    assert verify(back) == []


# --- what labels refer to has to be settled ---


def two_ways(who: str) -> Payload:
    """Ana's requirement is another one, so nothing that refers to requirements is settled."""
    title = "Pay later" if who == "ana" else "Order Tracking 1"
    requirement = own(who, title=title, action=title)
    return {"requirements": [requirement], "issues": [issue(f"{who}-1", uid=f"{who}-v")]}


def test_labels_wait_for_what_they_refer_to(lead):
    project = labeled(["extraction", "validation"], two_ways)
    merge(project)

    with pytest.raises(
        gold.NothingToFreeze, match=r"base_not_settled layer=layer_within\.extraction"
    ):
        factories.freeze(project, "validation")

    assert not merges.due(project, "validation")
    queue = page(lead, "/projects/orders/adjudication/?layer=validation")
    assert "1 conversation waits here until requirements are settled" in queue
    opened = page(lead, f"/adjudicate/{project.conversations.get().pk}/?layer=validation")
    assert "Requirements first." in opened


def test_after_the_decision_labels_refer_to_what_was_decided(people):
    project = labeled(["extraction", "validation"], two_ways)
    result = clusters(project, "extraction")
    kept = [one.label if one.label["title"] != "Pay later" else None for one in result]
    kept = [one and {**one, "title": "Tracking of orders"} for one in kept]
    decide(project, "extraction", kept, by=people["rita"])

    (cluster,) = clusters(project, "validation")
    release = factories.freeze(project, "validation")

    document = release.items.get().content
    (requirement,) = document["given"]["requirements"]
    assert requirement["title"] == "Tracking of orders"
    assert [label["requirement"] for label in document["gold"]["issues"]] == [requirement["uid"]]
    assert cluster.missing == ["ana"]
    lost = factories.with_names(release.items.get())["provenance"]["without_reference"]
    assert [label["uid"] for label in lost["ana"]] == ["ana-v"]
    assert document["provenance"]["how"] == "majority"


def test_a_decision_about_what_no_longer_stands_has_to_be_made_again(people):
    project = labeled(*GIVEN["validation"])
    (first,) = clusters(project, "validation")
    decide(project, "validation", [first.label], by=people["rita"])
    (requirement,) = clusters(project, "extraction")
    other = factories.requirement(2, title="Something else", action="Else")
    decide(project, "extraction", [None], added=[other], by=people["rita"])
    assert requirement

    with pytest.raises(gold.NothingToFreeze, match="decision_outdated"):
        factories.freeze(project, "validation")


def test_nobody_decides_about_a_requirement_that_is_not_there(people):
    project = labeled(*GIVEN["validation"])
    (cluster,) = clusters(project, "validation")

    with pytest.raises(InvalidPayload, match="label_not_there"):
        decide(project, "validation", [{**cluster.label, "requirement": "x"}], by=people["rita"])


def test_a_decision_about_requirements_makes_merges_that_refer_to_them_anew(people):
    project = labeled(*GIVEN["validation"])
    (requirement,) = clusters(project, "extraction")
    assert not merges.due(project, "validation")

    decide(project, "extraction", [{**requirement.label, "title": "New"}], by=people["rita"])

    assert len(merges.due(project, "validation")) == 1
    (cluster,) = clusters(project, "validation")
    assert cluster.how == "unanimous"
    assert cluster.label["requirement"] == requirement.label["uid"]


# --- disputes, dissent, decisions ---


def disputed_arcs(who: str) -> Payload:
    start = {"ana": 0, "ben": 1, "cleo": 2}[who]
    phases = [phase("Start", [start]), phase("End", [3])]
    return {"arcs": [arc(f"How did {who} go", *phases, uid=f"{who}-a")]}


def test_a_disputed_conversation_of_any_layer_is_left_out_by_name_and_can_be_decided(people):
    project = labeled(["arc"], disputed_arcs)
    with pytest.raises(gold.NothingToFreeze, match=r"disputed_and_more .*How did ana go"):
        factories.freeze(project, "arc")

    labels = [cluster.label for cluster in clusters(project, "arc")]
    decide(project, "arc", [labels[0], None, None], by=people["rita"])

    document = factories.with_names(factories.freeze(project, "arc").items.get())
    assert document["provenance"]["adjudicated_by"] == "rita"
    assert set(document["provenance"]["answers"]) == set(ANNOTATORS)
    (uid,) = (label["uid"] for label in document["gold"]["arcs"])
    assert document["provenance"]["labels"][uid]["uids"] == {uid.partition("-")[0]: uid}


def test_the_whole_came_about_as_its_weakest_part_and_names_each(people):
    project = labeled(*GIVEN["end_to_end"])
    (requirement,) = clusters(project, "extraction")
    decide(project, "extraction", [requirement.label], by=people["rita"])

    item = factories.freeze(project, "end_to_end").items.get()
    provenance = factories.with_names(item)["provenance"]

    assert (provenance["how"], provenance["adjudicated_by"]) == ("adjudicated", "rita")
    hows = {stage: row["how"] for stage, row in provenance["stages"].items()}
    assert hows == {
        "extraction": "adjudicated",
        "inference": "unanimous",
        "validation": "unanimous",
    }


def test_labels_of_two_layers_that_people_call_alike_stay_two_in_the_whole(people):
    def alike(who: str) -> Payload:
        result = [inferred("Encrypt", triggered_by=[f"{who}-1"], uid="ana-1")]
        return staged(who) | {"inferred_requirements": [] if who == "ana" else result}

    project = labeled(STAGES, alike)

    document = factories.freeze(project, "end_to_end").items.get().content

    uids = [label["uid"] for labels in document["gold"].values() for label in labels]
    assert len(set(uids)) == 3
    assert set(uids) == set(document["provenance"]["labels"])
    (inference,) = document["gold"]["inferred_requirements"]
    assert (inference["uid"], inference["triggered_by"]) == ("ana-1-2", ["ana-1"])


def test_the_whole_needs_all_its_stages(people):
    project = labeled(["extraction", "validation"], two_ways)

    with pytest.raises(gold.UnknownLayer, match=r"layer_within.*inference"):
        factories.freeze(project, "end_to_end")
