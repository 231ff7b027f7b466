"""Ratings of labels and of answers of a database of version 0.3.0, after the migrations since."""

from __future__ import annotations

import pytest

from tests.project.test_migrations import _migrate_to, _run_on, empty_database, migrate

__all__ = ["empty_database"]

STATE = {"labeling": "0054_agreement_with_gold", "evaluation": "0033_run_command_until"}
BEFORE = """
from datetime import datetime, timezone
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from labeling.models import guards

executor = MigrationExecutor(connection)
apps = executor.loader.project_state([("evaluation", "0033_run_command_until")]).apps
of = lambda app: lambda model, /, **values: apps.get_model(app, model).objects.create(**values)
labeling, make, then = of("labeling"), of("evaluation"), datetime(2026, 1, 31, tzinfo=timezone.utc)
ana, ben = (of("auth")("User", username=name) for name in ("ana", "ben"))
project = labeling("Project", slug="p", name="P")
talk = labeling("Conversation", project=project, external_id="c", n_messages=0)
labeling("Transcript", conversation=talk, messages="[]")

def run_on(layer):
    gold = labeling("GoldRelease", project=project, layer=layer, name=layer, version=1,
                    header="{}", sha256="0" * 64, signature="old", public_key="old")
    item = labeling("GoldItem", release=gold, conversation=talk, item_id="c", position=0,
                    how="single", canonical="{}", sha256="1" * 64)
    run = make("Run", release=gold, pipeline="nothing", pipeline_version="1", spec={},
               config_sha256="2" * 64, scored_at=then)
    return run, [make("CaseRun", run=run, item=item, part=str(n)) for n in range(3)]

run, (case, *_) = run_on("inference")
panel = make("RatingPanel", run=run, n_labels=2, opened_by=ana, closed_at=then, closed_by=ana,
             changes=3, counted=2)
for number in (1, 2):
    make("RatedLabel", panel=panel, number=number, case=case, position=number - 1)
    make("Rating", case=case, position=number - 1, judge=ben, score=number, frozen=True)

run, cases = run_on("memory")
answers = [make("Answer", case=one, state="done", text="Rome.") for one in cases]
make("AnswerPanel", run=run)  # takes a key that the other table has
asked = make("AnswerPanel", pk=7, run=make("Run", release=run.release, pipeline="x",
             pipeline_version="1", spec={}, config_sha256="3" * 64))
asked.invited.add(ben)
drawn = {"panel": asked, "seed": 5, "drawn_from": 3}
first = make("AnswerSample", pk=40, kind="relevance", closed_at=then, reason="Few.", **drawn)
second = make("AnswerSample", pk=41, kind="faithfulness", **drawn)
for sample, order in ((first, (2, 0)), (second, (2, 1))):
    for number, at in enumerate(order, start=1):
        make("SampledAnswer", sample=sample, answer=answers[at], number=number)
make("AnswerRating", answer=answers[2], kind="relevance", rater=ben, score=9, note="!", frozen=True)
make("AnswerRating", answer=answers[2], kind="faithfulness", rater=ana, score=4)
make("JudgeCertificate", project=project, judge_sha256="4" * 64, kind="relevance", model="m",
     prompt_sha256="5" * 64, parser_version="1", sample=first, n=40, passed=True)
tables = ("evaluation_rating", "evaluation_answersample", "evaluation_sampledanswer")
guards.install(connection, [one for table in tables for one in guards.never(table, "It stays.")])
"""
AFTER = """
from evaluation.models import JudgeCertificate, RatedPlace, Rating, RatingPanel, RatingSample, Run
from evaluation.services.judging import samples

labels = RatingSample.objects.get(kind="need")
assert labels.closed_by.username == labels.drawn_by.username == "ana"
assert list(labels.places.values_list("number", "position")) == [(1, 0), (2, 1)]
scores = Rating.objects.filter(kind="need").values_list("rater__username", "score", "frozen")
assert list(scores) == [("ben", 1, True), ("ben", 2, True)]
assert labels.panel.run.scored_at is None  # a rating waited to be counted

assert JudgeCertificate.objects.get().sample_id == 40
asked = RatingSample.objects.get(pk=40).panel
assert [user.username for user in asked.invited.all()] == ["ben"]
cases = list(asked.samples.get(pk=41).places.values_list("case", flat=True))
both = RatedPlace.objects.filter(sample__panel=asked).order_by("number")
seen = list(both.values_list("number", "sample__kind", "case"))
assert [row[:2] for row in seen] == [
    (1, "faithfulness"), (2, "relevance"), (3, "relevance"), (4, "faithfulness")]
assert seen[0][2] == seen[1][2] == cases[0]
assert [done.rated for done in samples.progress(asked.samples.all())] == [1, 1]
rated = Rating.objects.get(kind="relevance")
assert (rated.score, rated.note, rated.frozen, rated.rater.username) == (9, "!", True, "ben")
assert RatingSample.objects.create(panel=asked, kind="need", seed=1, drawn_from=1).pk > 41
"""


@pytest.mark.postgres
def test_ratings_of_0_3_are_carried_over_with_their_samples(empty_database: str) -> None:
    _migrate_to(empty_database, STATE)
    _run_on(empty_database, BEFORE)

    migrate(empty_database)

    _run_on(empty_database, AFTER)
