"""Answers that a language model writes from what a case retrieved, once each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict
from uuid import UUID

from django.db import transaction

from evaluation import adapters, judge
from evaluation.layers import GOLD_LAYERS, gold_layer
from evaluation.layers.memory import Memory
from evaluation.metrics.answers import PARSER_VERSION
from evaluation.models import Answer, CaseRun, Judgement, Judging, Run, WorkQuerySet
from evaluation.models.spec import AnswersSpec
from evaluation.services.language_models import endpoints
from evaluation.services.work import leases
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.models import GoldRelease
from pipelines.chat.endpoint import DEFAULT, JUDGE
from pipelines.llm import ChatModel

MOST_CHARACTERS = 60_000
"""Of messages in one prompt; what a pipeline returned first is kept."""


class AnswersRefused(RuleError, code="answers_refused"):
    """There is no question to answer, or no answer to judge."""


def asking_layers() -> list[str]:
    """Those whose labels ask a question."""
    return [name for name, layer in GOLD_LAYERS.items() if isinstance(layer, Memory)]


def check(layer: str, model: str = DEFAULT) -> None:
    """Refuse before anything runs: the layer has to ask a question, and a model to answer it."""
    if layer not in asking_layers():
        raise AnswersRefused(
            "answers.no_question", layer=layer, asking=asking_layers(), details={"layer": layer}
        )
    endpoints.require(Fact("task.evaluate_answers"), model)
    endpoints.require(Fact("task.judge_answers"), JUDGE)


def describe(judge_prompts: Mapping[str, str]) -> AnswersSpec:
    """What a run writes down: the prompt itself, so that a later version changes nothing in it.

    The texts of the judge's prompts are with its first judging, which ``prepare`` makes.
    """
    prompt = judge.shipped(judge.ANSWER)
    prompts = judge.prompts(judge_prompts).items()
    own = {kind: prompt for kind, prompt in prompts if prompt.name == judge.OWN}
    return AnswersSpec(
        prompt=prompt.name,
        text=prompt.text,
        prompt_sha256=prompt.sha256,
        judge=endpoints.describe(JUDGE),
        judge_prompts={kind: prompt.sha256 for kind, prompt in own.items()},
    )


def judge_prompts_of(run: Run) -> dict[str, str]:
    """Those that the run was launched with in place of shipped ones."""
    asked = run.spec.answers.judge_prompts if run.spec.answers else {}
    first = Judging.objects.filter(run=run).order_by("pk").first() if asked else None
    return {kind: first.spec["prompts"][kind]["text"] for kind in asked} if first else {}


def elsewhere(cases: Iterable[CaseRun], layer: str) -> AnswersSpec | None:
    """None if no prediction has an answer, or the layer asks nothing that could be answered."""
    if not isinstance(gold_layer(layer), Memory) or not any(map(own_answer, cases)):
        return None
    return AnswersSpec(elsewhere=True)


def take_over(run: Run, cases: Iterable[CaseRun]) -> None:
    """Rows for the answers that came with predictions: they are measured, and may be judged."""
    layer = gold_layer(run.spec.layer)
    rows = []
    for case in cases:
        if text := own_answer(case):
            example = adapters.to_example(case, layer)
            ids = chosen(layer.returned_ids(example), example.messages)
            done = {"state": Answer.State.DONE, "finished_at": case.finished_at}
            rows.append(Answer(case=case, text=text, message_ids=ids, **done))
    Answer.objects.bulk_create(rows, batch_size=500)


def own_answer(case: CaseRun) -> str:
    """The one that the pipeline gave, or the file of predictions; empty: none."""
    return str((case.output or {}).get("answer") or "").strip()


@transaction.atomic
def adopt(run: Run) -> None:
    """Have the pipeline's own answers measured where nobody asked for answers to be written."""
    answered = run.cases.filter(state=CaseRun.State.DONE, output__has_key="answer")
    cases = list(answered.exclude(output__answer=None).select_related("item").order_by("pk"))
    found = elsewhere(cases, run.spec.layer)
    if found is None:
        return
    take_over(run, cases)
    run.spec = run.spec.with_values(answers=found)
    run.save(update_fields=["spec"])


def prepare(judging: Judging, cases: Iterable[CaseRun]) -> None:
    """Rows for all that is to be written and judged: what is left can be read from them."""
    rows = Answer.objects.bulk_create([Answer(case=case) for case in cases], batch_size=500)
    prepare_judgements(judging, rows)


def prepare_judging(run: Run, prompts: Mapping[str, judge.Prompt], *, by: Any) -> Judging:
    model = endpoints.describe(JUDGE)
    assert model is not None  # the caller has asked for it
    described = {
        kind: {
            **{name: getattr(prompt, name) for name in ("name", "text", "sha256")},
            "judge_sha256": judge.judge_sha256(model, prompt.sha256),
        }
        for kind, prompt in prompts.items()
    }
    return Judging.objects.create(
        run=run,
        model=model["id"],
        parser_version=PARSER_VERSION,
        judge_sha256=judge.panel_sha256(
            {kind: prompt_spec["judge_sha256"] for kind, prompt_spec in described.items()}
        ),
        spec={"model": model, "prompts": described},
        requested_by=by,
    )


def prepare_judgements(judging: Judging, answers: Iterable[Answer]) -> None:
    """A row for everything that is to be judged."""
    rows = [
        Judgement(judging=judging, answer=answer, kind=kind)
        for answer in answers
        for kind in judging.spec["prompts"]
    ]
    Judgement.objects.bulk_create(rows, batch_size=500)


def ready(run_id: int) -> WorkQuerySet:
    """Answers to be written whose case is done."""
    return Answer.objects.wanted().filter(case__run=run_id, case__state=CaseRun.State.DONE)


def claim(run_id: int, owner: UUID) -> Answer | None:
    taken = leases.claim(ready(run_id), owner)
    if taken is None:
        return None
    rows = Answer.objects.select_related("case__item", "case__run__release")
    documents = [f"case__run__release__{name}" for name in GoldRelease.DOCUMENTS]
    return rows.defer("case__item__canonical", *documents).get(pk=taken)


def write(answer: Answer, run: Run, model: ChatModel) -> leases.Columns:
    """The fields of the finished answer: the pipeline's own; only where it gave none, a new one."""
    spec = run.spec.answers
    assert spec is not None  # the run was launched with answers
    prompt = judge.Prompt(spec.prompt, spec.text)
    case = answer.case
    layer = gold_layer(run.release.layer)
    example = adapters.to_example(case, layer)
    ids = chosen(layer.returned_ids(example), example.messages)
    if own := own_answer(case):
        return {"text": own, "message_ids": ids}
    reply = model.complete(
        prompt.messages(
            question=layer.question(example.gold), messages=shown(ids, example.messages)
        )
    )
    text = adapters.storable(reply.text.strip())
    adapters.check_size(text)
    return {
        "text": text,
        "message_ids": ids,
        "prompt_sha256": prompt.sha256,
        "model": reply.model[:200],
    }


def chosen(returned: Sequence[int], messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """The localIds that fit into a prompt, in the order of the conversation."""
    fitting: list[int] = []
    room = MOST_CHARACTERS
    for local_id in dict.fromkeys(returned):
        if not 1 <= local_id <= len(messages):
            continue
        room -= len(messages[local_id - 1]["content"])
        if room < 0 and fitting:
            break
        fitting.append(local_id)
    return sorted(fitting)


class ShownMessage(TypedDict):
    id: int
    speaker: str
    time: str | None
    text: str


def shown(ids: Iterable[int], messages: Sequence[Mapping[str, Any]]) -> list[ShownMessage]:
    """The messages as author and judge see them."""
    return [
        {
            "id": local_id,
            "speaker": messages[local_id - 1]["speaker"] or messages[local_id - 1]["role"],
            "time": messages[local_id - 1]["time"],
            "text": messages[local_id - 1]["content"],
        }
        for local_id in ids
    ]
