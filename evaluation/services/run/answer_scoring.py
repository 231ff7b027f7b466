"""Scores of answers, from what was written and what the judge that counts said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import QuerySet

from evaluation.layers import Example
from evaluation.metrics.answers import NO_REFERENCE, answer_token_f1
from evaluation.metrics.registry import METRICS, Value
from evaluation.models import Answer, Judgement, Judging, Run
from evaluation.services.judging import judgings
from evaluation.services.work.calling_off import CALLED_OFF, GIVEN_UP
from labeling.domain.facts import Fact
from labeling.words import in_english

JUDGED = ("faithfulness", "relevance", "completeness", "correctness")
NO_ANSWER = Fact("metric.no_answer")
NOT_JUDGED = Fact("metric.not_judged")
JUDGE_FAILED = Fact("metric.judge_failed")


@dataclass(frozen=True)
class Judged:
    """The answers of a run and its counting judging, by case."""

    judging: Judging | None
    answers: Mapping[int, Answer]
    judgements: Mapping[int, Mapping[str, Judgement]]

    def values(self, case_id: int, example: Example, *, failure: Fact | None) -> dict[str, Value]:
        """Of every metric of answers; ``failure`` says why a failed case counts as worst.

        So does a question without an answer, by what other answers of the run are measured by.
        """
        reference = example.gold[0].get("answer") or None
        answer = self.answers.get(case_id)
        text = answer.text if answer and answer.state == Answer.State.DONE else ""
        wrong = failure or (NO_ANSWER if not text and self._was_asked(answer) else None)
        values_by_metric = {
            name: self._value(name, case_id, bool(text), wrong if name in self._scored else None)
            for name in JUDGED
        }
        values_by_metric["answer_token_f1"] = Value(None, NO_ANSWER)
        if text:
            values_by_metric["answer_token_f1"] = answer_token_f1(text, reference)
        elif wrong and self._answered:
            values_by_metric["answer_token_f1"] = Value(0.0, wrong)
        if reference is None:
            values_by_metric |= dict.fromkeys(
                ("correctness", "answer_token_f1"), Value(None, NO_REFERENCE)
            )
        return values_by_metric

    @cached_property
    def _answered(self) -> bool:
        return any(answer.text for answer in self.answers.values())

    @cached_property
    def _scored(self) -> frozenset[str]:
        """The kinds of judgement of which the run has any: else nothing was judged."""
        return frozenset(
            kind
            for judgements in self.judgements.values()
            for kind, judgement in judgements.items()
            if judgement.score is not None
        )

    def _was_asked(self, answer: Answer | None) -> bool:
        """An answer that came with predictions has no row where it is empty."""
        return answer is None or (
            answer.state == Answer.State.FAILED and answer.error not in (CALLED_OFF, GIVEN_UP)
        )

    def _value(self, kind: str, case_id: int, has_answer: bool, wrong: Fact | None) -> Value:
        judgements = self.judgements.get(case_id, {})
        judgement = judgements.get(kind)
        if wrong:
            return Value(METRICS[kind].worst, wrong)
        if not has_answer:
            return Value(None, NO_ANSWER)
        if judgement is None or judgement.state not in (
            Judgement.State.DONE,
            Judgement.State.FAILED,
        ):
            return Value(None, NOT_JUDGED)
        if judgement.state == Judgement.State.FAILED:
            return Value(None, JUDGE_FAILED)
        if judgement.score is None:
            return Value(None, judgement.reason)
        return Value(judgement.score, detail={"clamped": judgement.clamped})

    def details(self) -> dict[str, Mapping[str, Any]]:
        """What is stored with the aggregates: whose answers they are, and who judged them."""
        written = {"answers": self._whose()}
        return {"answer_token_f1": written, **self._of_judge(written["answers"])}

    def _whose(self) -> dict[str, int]:
        done = [row for row in self.answers.values() if row.state == Answer.State.DONE]
        own = sum(not row.model for row in done)
        return {"own": own, "written": len(done) - own}

    def _of_judge(self, whose: dict[str, int]) -> dict[str, dict[str, Any]]:
        """How often the judge failed."""
        if self.judging is None:
            return {}
        rows = {kind: self._of_kind(kind) for kind in JUDGED}
        prompts = self.judging.spec["prompts"]
        return {
            kind: {
                "judge": {
                    "judging": self.judging.pk,
                    "model": self.judging.model,
                    "name": prompts[kind]["name"],
                    "sha256": prompts[kind]["sha256"],
                    "judge_sha256": prompts[kind]["judge_sha256"],
                },
                "answers": whose,
                "judge_failures": _failures(rows[kind]),
                "clamped": sum(row.clamped for row in rows[kind]),
            }
            for kind in JUDGED
        }

    def _of_kind(self, kind: str) -> list[Judgement]:
        return [by_kind[kind] for by_kind in self.judgements.values() if kind in by_kind]


def load(run: Run) -> Judged | None:
    """None if the run was launched without answers."""
    if not run.spec.has_answers:
        return None
    judging = judgings.counting(run)
    answers = Answer.objects.filter(case__run=run).defer("usage", "message_ids")
    judgements: dict[int, dict[str, Judgement]] = {}
    rows: QuerySet[Judgement] = Judgement.objects.filter(judging=judging)
    for row in rows.select_related("answer").defer("raw", "reasoning", "usage", "answer__text"):
        judgements.setdefault(row.answer.case_id, {})[row.kind] = row
    return Judged(judging, {answer.case_id: answer for answer in answers}, judgements)


def documents(run: Run) -> dict[int, dict[str, Any]]:
    """The answer of every case and what the counting judge said of it, for ``results.json``."""
    by_case = {
        answer.case_id: {
            "answer": {
                "text": answer.text,
                "message_ids": answer.message_ids,
                "model": answer.model,
                "written_by": "model" if answer.model else "pipeline",
                "error": in_english(answer.error) if answer.error else None,
            },
            "judgements": {},
        }
        for answer in Answer.objects.filter(case__run=run)
    }
    rows = Judgement.objects.filter(judging=judgings.counting(run)).select_related("answer")
    for row in rows.defer("raw", "usage", "answer__text"):
        by_case[row.answer.case_id]["judgements"][row.kind] = {
            "score": row.score,
            "reasoning": row.reasoning or None,
            "clamped": row.clamped,
            "undefined": in_english(why) if (why := row.reason or row.error) else None,
            **row.detail,
        }
    return by_case


def clamped(run: Run) -> dict[int, list[str]]:
    """The kinds in which the counting judge gave a number outside its scale, by case."""
    kinds: dict[int, list[str]] = {}
    rows = Judgement.objects.filter(judging=judgings.counting(run), clamped=True).order_by("pk")
    for case, kind in rows.values_list("answer__case", "kind"):
        kinds.setdefault(case, []).append(kind)
    return kinds


def _failures(rows: list[Judgement]) -> int:
    return sum(row.state == Judgement.State.FAILED for row in rows)
