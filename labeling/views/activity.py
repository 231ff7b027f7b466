"""The audit log in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from labeling.forms.audit import AuditFilter
from labeling.forms.project_settings import SettingsForm
from labeling.models import Disagreement, Event, LogCheck, Project, Review
from labeling.services import access, audit_chain
from labeling.templatetags.figures import exact, figure
from labeling.templatetags.words import layer_title
from labeling.translation import isolated, translated
from labeling.translation import lazy as _
from labeling.views import activity
from labeling.views.paging import page_of, query_of
from labeling.words import is_fact, words_of

WORDS = {
    "adjudication.accepted": _("accepted {conversations} conversations as agreed ({states})"),
    "adjudication.decided": _("decided the labels of {conversation}"),
    "admission.let_in": _("let {user} do full labeling of {layers} without calibration: {reason}"),
    "annotation.first_pass": _("finished the first pass over {conversation} and sees suggestions"),
    "annotation.reopened": _("took back the submission of {conversation}"),
    "annotation.returned": _("returned {conversation}: {reason}"),
    "annotation.reviewed": _("reviewed {conversation} of {annotator}: {verdict}"),
    "annotation.skipped": _("skipped {conversation}: {reason}"),
    "annotation.submitted": _("submitted {conversation}"),
    "annotation.unskipped": _("took back the skip of {conversation}"),
    "calibration.allowed": _("allowed {user} another try to calibrate"),
    "calibration.begun": _("began try {tries} to calibrate"),
    "calibration.failed": _("{user} did not pass calibration in try {tries}"),
    "calibration.passed": _("{user} passed calibration in try {tries}"),
    "checks.changed": _("changed how people are checked: {fields}"),
    "checks.chosen": _("chose {conversations} conversations with gold to check people by"),
    "checks.dropped": _("took {conversation} away from what people are checked by"),
    "comment.posted": _("wrote a comment on {conversation}"),
    "comment.resolved": _("resolved a comment on {conversation}"),
    "comment.unresolved": _("took a resolved comment on {conversation} up again"),
    "assignment.handed_over": _("gave {conversation} from {user} to {to}"),
    "assignment.handed_on": _(
        "open work of {user} was handed on: to {to}; {pool} back to the pool, {left_open} to nobody"
    ),
    "assignment.moved": _(
        "moved {moved} open assignments of {user} to {to}, took {taken_back} back"
    ),
    "conversation.answered": _("Everybody has answered {conversation}: it can be settled"),
    "conversations.imported": _("imported conversations from {files}: {new} new"),
    "disagreement.decided": _("decided on {conversation}, message {message}: {outcome}"),
    "disagreement.discussed": _("discussed {conversation}, message {message}"),
    "disagreement.reopened": _("opened {conversation}, message {message} for discussion again"),
    "gate.asked": _("checked the thresholds of run {run}: {result}"),
    "gate.failed": _("run {run} did not reach its thresholds"),
    "gate.changed": _("changed the run thresholds: {thresholds}"),
    "dispute.corrected": _("dispute {dispute} was decided: gold of {item} is corrected"),
    "dispute.judged": _("judged dispute {dispute}"),
    "dispute.kept": _("dispute {dispute} was decided: gold of {item} stays"),
    "dispute.opened": _("opened dispute {dispute} about {item} in {release}"),
    "dispute.withdrawn": _("withdrew dispute {dispute}"),
    "gold.corrected": _("froze {release} with {corrections} corrections of {parent}"),
    "gold.freeze_refused": _("was refused a gold release: {message}"),
    "gold.freeze_requested": _("asked for a gold release of {layer}"),
    "gold.looked_at": _("looked at the test items of {release}: {reason}"),
    "gold.imported": _("imported {release} with {items} items from {files}"),
    "gold.lint_refused": _("asked for lint, which could not look: {message}"),
    "gold.lint_requested": _("asked for lint of {layer}"),
    "gold.lint_waived": _("accepted {findings} findings of lint ({what}): {reason}"),
    "gold.lint_waiver_withdrawn": _(
        "no longer accepts {findings} findings of lint ({what}): {reason}"
    ),
    "gold.linted": _("Lint of {layer} found {findings} faults"),
    "gold.frozen": _("froze {release} with {items} items"),
    "job.freed": _("took a stuck job ({kind} {title}) from whoever held it"),
    "guideline.added": _("wrote version {version} of the guidelines: {summary}"),
    "guideline.checked": _(
        "checked {conversation} by {annotator} against version {version}: {found}"
    ),
    "invitation.accepted": _("joined as {role} by an invitation"),
    "invitation.created": _(
        "created an invitation as {role} (people: {uses}, valid for {days} days)"
    ),
    "invitation.revoked": _("revoked an invitation as {role}"),
    "layer.stated_empty": _("stated for round {round} that nothing was to be found on {layer}"),
    "layer.statement_withdrawn": _("took back that nothing was to be found on {layer}"),
    "layer.taken_off": _("took {layer} off after round {round}"),
    "layers.requested": _("asked for the layers of {conversations} conversations"),
    "member.added": _("gave {user} the role of {role}"),
    "member.changed": _("changed the role of {user} from {before} to {role}"),
    "member.removed": _("took the role of {role} from {user}"),
    "annotator.paused": _(
        "{user} is paused: gold agreement {value} over the last {checks} hidden checks"
    ),
    "annotator.resumed": _("lifted the pause of {user}"),
    "annotator.created": _("made an inactive account for {user}, whose labels were imported"),
    "labels.imported": _("imported {new} answers by {annotators} from {files}"),
    "decisions.imported": _("imported {decisions} decisions about answers from {files}"),
    "primary.declared": _(
        "declared that {metric} decides comparisons of {layer} instead of {before}; differences "
        "from {margin} of its range on are of interest"
    ),
    "looks.budget_set": _("set the budget of looks at test items: {looks} ({reason})"),
    "project.changed": _("changed the project's {fields}"),
    "qualification.begun": _("began try {tries} of the qualification test"),
    "qualification.failed": _("{user} did not pass the qualification test: {value} in try {tries}"),
    "qualification.passed": _("{user} passed the qualification test: {value} in try {tries}"),
    "qualification.waived": _("let {user} work without the qualification test: {reason}"),
    "project.created": _("created the project"),
    "answers.rating_invited": _("let annotators rate the answers of run {run}: {users}"),
    "answers.rating_opened": _("opened the rating of the answers of run {run}"),
    "answers.sample_closed": _("closed the sample of answers of run {run} for {kinds}"),
    "answers.sample_drawn": _("drew a sample of answers of run {run} for {kinds}"),
    "answers.sample_given_up": _("gave up the sample of answers of run {run} for {kinds}"),
    "judge.certified": _("gave the judge {judge} of {kind} its certificate"),
    "judge.probed": _("had the judge {judge} of {kind} asked the probes"),
    "judge.refused": _("the judge {judge} of {kind} was refused a certificate"),
    "rating.closed": _("closed the rating of run {run} with {ratings} ratings"),
    "rating.invited": _("let annotators rate run {run}: {users}"),
    "rating.opened": _("opened the rating of run {run}: {labels} labels"),
    "round.closed": _("closed a round of full labeling"),
    "round.extended": _("added {conversations} conversations to a round"),
    "round.failed": _("A calibration round did not pass: κ {kappa}"),
    "round.imported": _("stored imported answers to {conversations} conversations as a round"),
    "round.names_hidden": _("put letters for names in a discussion"),
    "round.names_shown": _("showed the names in a discussion"),
    "round.opened": _("opened a round ({kind}) of {conversations} conversations"),
    "round.passed": _("A calibration round passed: κ {kappa}"),
    "baseline.chosen": _("made run {object_id} the baseline of {gold}, split: {split}"),
    "baseline.taken_back": _("took back that run {object_id} is the baseline of {gold}"),
    "run.answers_called_off": _("called off the answers left in run {object_id}"),
    "run.carried": _("had the outputs of run {source} scored on {gold}"),
    "run.cancelled": _("cancelled run {object_id}"),
    "run.concurrency_changed": _(
        "changed how many cases of run {object_id} are worked on at a time: {concurrency}"
    ),
    "run.failed": _("run {object_id} failed"),
    "run.finished": _("run {object_id} finished"),
    "run.judged": _("had the answers of run {object_id} judged again"),
    "run.launched": _("launched {pipeline} on {gold}"),
    "run.noted": _("wrote a note on run {object_id}"),
    "run.paused": _("paused run {object_id}"),
    "run.rescored": _("had run {object_id} scored again"),
    "run.resumed": _("resumed run {object_id}"),
    "run.retry_called_off": _("cancelled the retry of run {object_id}"),
    "run.retried": _("had tried again what failed in run {object_id}"),
    "run.tagged": _("tagged run {object_id}: {tags}"),
    "suggestions.broke_off": _("The suggestions of {pipeline} could not be made: {reason}"),
    "suggestions.adopted": _(
        "{made} suggestions of {pipeline} came from a trial; {conversations} conversations are new"
    ),
    "suggestions.made": _("The suggestions of {pipeline} are ready: {conversations} conversations"),
    "suggestions.requested": _(
        "asked {pipeline} for suggestions for {conversations} conversations"
    ),
    "suggestions.switched_off": _("switched suggestions off"),
    "suggestions.switched_on": _("switched suggestions on"),
    "webhook.added": _("made a webhook to {host}"),
    "webhook.changed": _("changed the webhook to {host}: {fields}"),
    "webhook.gone": _("The receiver of the webhook to {host} is gone: it was paused"),
    "webhook.paused": _("paused the webhook to {host}"),
    "webhook.removed": _("removed the webhook to {host}"),
    "webhook.resumed": _("resumed the webhook to {host}"),
    "webhook.secret_rotated": _("replaced the secret of the webhook to {host}"),
    "webhook.sent_again": _("had {delivery} sent to {host} again"),
    "webhook.tested": _("tested the webhook to {host}"),
}


class Line(NamedTuple):
    """One entry: who, what in words, when."""

    actor: str
    words: str
    at: Any


def lines(events: Iterable[Event]) -> list[Line]:
    return [
        Line(event.actor.get_username() if event.actor else "", words(event), event.at)
        for event in events
    ]


def words(event: Event) -> str:
    """A sentence for the verbs of this application; the verb itself for one it does not know."""
    return WORDS.get(event.verb, event.verb).format_map(
        _Known({**event.data, **_values_in_words(event), "object_id": event.object_id})
    )


def changes(fields: Iterable[str], was: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """“κ threshold (0.75 → 0.6), description”: from what to what, where it is short."""
    parts = []
    for name in fields:
        old, new = _setting(name, was.get(name)), _setting(name, now.get(name))
        parts.append(f"{titled(name)} ({old} → {new})" if old and new else titled(name))
    return ", ".join(parts)


def titled(name: str) -> str:
    field = SettingsForm.base_fields.get(name)
    return translated((field and field.label) or name.replace("_", " ").capitalize())


def _setting(name: str, value: Any) -> str:
    match value:
        case int() | float():
            return exact(value)
        case str() if len(value) <= SHORT:
            return translated(dict(Project.Statistic.choices).get(value, value))
        case [*names] if name == "layers":
            return ", ".join(layer_title(layer) for layer in names)
    return ""


SHORT = 50
"""Longer texts are in the event, and not told in its line."""


def _values_in_words(event: Event) -> dict[str, str]:
    if event.verb == "project.changed" and "was" in event.data:
        return {"fields": changes(**event.data)}
    facts = {key: value for key, value in event.data.items() if is_fact(value)}
    return {key: words_of(value) for key, value in facts.items()}


OUR_WORDS = ("role", "before", "kind", "verdict", "outcome", "found", "result")
"""What events hold under these is a state; where its code is not its word, LABELS has that."""

LABELS: dict[str, dict[str, Any]] = {
    "verdict": dict(Review.Verdict.choices),
    "outcome": dict(Disagreement.Outcome.choices),
    "found": {"stands": _("still stands"), "outdated": _("has to be labelled again")},
}
"""Events never change: old ones hold the English word in place of the code."""


class _Known(dict[str, Any]):
    """Values as text. Events are never changed, so old ones may lack a key that new ones have."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(
            {
                key: translated(LABELS.get(key, {}).get(value, value))
                if key in OUR_WORDS and value
                else _text(value)
                for key, value in data.items()
            }
        )

    def __missing__(self, key: str) -> str:
        return "–"


def _text(value: Any) -> str:
    match value:
        case None:
            return translated("undefined")
        case float():
            return figure(value)
        case list():
            return ", ".join(map(isolated, value))
        case dict():
            return ", ".join(f"{name}: {number}" for name, number in value.items()) or "–"
    return isolated(value)


# --- audit log ------------------------------------------------------------------------------------


@require_GET
def audit(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    form = AuditFilter(request.GET, verbs=sorted(activity.WORDS))
    rows = form.narrow(project.events.select_related("actor"))
    page = page_of(
        rows, order=["-pk"], after=request.GET.get("after"), anchors=project.events.all()
    )
    context = {
        "project": project,
        "form": form,
        "page": page,
        "entries": [(event, activity.words(event)) for event in page.rows],
        "query": query_of(request),
        "end": audit_chain.head(),
        "check": LogCheck.objects.first(),
    }
    return render(request, "labeling/audit.html", context)
