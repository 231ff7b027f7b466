"""Comments as people write them, and who may read them."""

from __future__ import annotations

from labeling.models import Annotation
from labeling.work import annotations, comments
from labeling.work.comments import Pin
from tests import factories

EVERYBODY = ("ana", "ben", "cleo", "rita", "noor", "admin", "olga")


def of(round_, person):
    return round_.assignments.get(annotator=person)


def say(assignment, body="Is this one?", pin=None):
    place = comments.place_of(assignment)
    return comments.post(place, body=body, author=assignment.annotator, pin=pin)


def on_label(assignment, body="Is it a duplicate?"):
    annotations.save_draft(assignment, factories.save_of(factories.labels([0])))
    (label,) = Annotation.objects.get(assignment=assignment).payload["requirements"]
    return say(assignment, body, Pin(label_uid=label["uid"]))


def readers(people, comment):
    """Who of all may read it."""
    return [name for name in EVERYBODY if comment in comments.visible_to(people[name])]
