"""Who holds which place in a round."""

from collections import Counter

from django.contrib.auth.models import User

from labeling.models import Assignment, Round


def of(person: User, round_: Round) -> list[Assignment]:
    mine = round_.assignments.filter(annotator=person).select_related("round", "conversation")
    return list(mine.order_by("position"))


def places(round_: Round) -> Counter[int]:
    held = round_.assignments.filter(slot__isnull=False)
    return Counter(held.values_list("conversation", flat=True))
