"""What a model may be shown of gold: labels of train items of other conversations."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation import adapters
from evaluation.layers import gold_layer
from labeling.models import GoldRelease, Project
from tests.evaluation.conftest import requirement
from tests.evaluation.releases import freeze
from tests.evaluation.requirement_releases import _content

SPLITS = ("train", "test", "train", "dev", "train", "train")


@pytest.fixture
def release(project: Project) -> GoldRelease:
    contents: list[dict[str, Any]] = []
    for number, split in enumerate(SPLITS, start=1):
        content = _content("extraction", number, {"requirements": [requirement(1)]})
        contents.append(content | {"split": split})
    return freeze(project, "extraction", name="talks", contents=contents)


def test_examples_are_of_train_items_and_never_of_the_conversation_that_is_asked_about(release):
    train = {f"case-{number}" for number, split in enumerate(SPLITS, 1) if split == "train"}
    layer = gold_layer("extraction")

    for item in release.items.all():
        shown = adapters.examples_for(item, release, layer)
        names = [one.conversation_id for one in shown]
        assert len(set(names)) == adapters.MOST_EXAMPLES
        assert {*names} <= train - {item.item_id}
        assert [message.index for message in shown[0].messages] == [0]


def test_a_case_carries_them_only_where_a_model_is_asked(release, launch, asking):
    run = launch(release=release, pipeline="nothing", split="train")
    layer, case = gold_layer("extraction"), run.cases.select_related("item", "run__release")[0]
    assert adapters.to_case(case, layer).examples == ()
    case.run.spec = run.spec.with_values(model={"id": "test/small-1"})
    assert adapters.to_case(case, layer).examples
