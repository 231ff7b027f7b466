"""What was decided about reopened items of gold, for settling and the next release."""

from __future__ import annotations

from labeling.agreement.matching.merging import plain as undecided
from labeling.gold.rules.content import Provenance
from labeling.gold.rules.corrections import Correction, changes, with_correction
from labeling.models import Adjudication, Reopening
from labeling.schema import LAYERS
from labeling.schema.labels import StoredLabel
from labeling.schema.origins import plain

Change = tuple[Correction, StoredLabel | None]
"""A correction, with the label as it was."""


def changes_of(reopening: Reopening, decision: Adjudication) -> list[Change]:
    """What the decision made of the item's labels."""
    item, key = reopening.item, LAYERS[reopening.layer].key
    before = [plain(label) for label in item.content["gold"].get(key, [])]
    after = [plain(undecided(label)) for label in decision.payload.get(key, [])]
    return [
        (
            Correction(
                dispute=reopening.pk,
                layer=reopening.layer,
                uid=str((old or new or {})["uid"]),
                label=new,
                is_new=old is None,
                decided_by=(decision.decided_by.get_username(),),
                reason=decision.reason,
                release=str(item.release),
            ),
            old,
        )
        for old, new in changes(before, after)
    ]


def stated(origin: Provenance, decision: Adjudication) -> Provenance:
    """The provenance that says which labels the decision about a reopened item has changed."""
    for reopening in decision.reopenings.all()[:1]:
        for correction, before in changes_of(reopening, decision):
            origin = with_correction(origin, correction, before)
    return origin
