"""Where else to look when the evidence is thin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipelines.memory.query.candidates import Search, search_all
from pipelines.memory.query.mind import Verdict
from pipelines.memory.query.questions import topic_question
from pipelines.memory.query.talk import Talk

HITS = 3
"""How many of the best messages are followed."""
NEIGHBOURS = 3
SHARE = 0.3
"""What a message passes to its neighbours, and a topic to its thread."""


def explore(
    question: str,
    talk: Talk,
    verdict: Verdict,
    searches: Sequence[Search],
    *,
    look: int,
    limit: int,
) -> list[Search]:
    """First the subject alone and the neighbours of the best; then threads and replies."""
    known = {search.question for search in searches}
    asked = [(part.text, part.why) for part in verdict.questions if part.text not in known]
    topic = topic_question(question)
    if look == 1 and topic:
        asked.append((topic.text, "topic"))
    results = search_all(talk, asked, limit=limit)
    if look == 1:
        return [*results, _neighbours(talk, verdict)]
    return [*results, _in_threads(talk, verdict), _replies(talk, verdict)]


def _neighbours(talk: Talk, verdict: Verdict) -> Search:
    chances: dict[int, float] = {}
    for position in verdict.ranked[:HITS]:
        for near in range(position - NEIGHBOURS, position + NEIGHBOURS + 1):
            if near != position and 0 <= near < len(talk.messages):
                share = SHARE * verdict.chances[position] / abs(near - position)
                _raise(chances, (near,), share)
    return _search("neighbours", chances)


def _in_threads(talk: Talk, verdict: Verdict) -> Search:
    """Topics of the same thread: all their messages become candidates."""
    chances: dict[int, float] = {}
    for position in verdict.ranked[:HITS]:
        node = talk.node_at.get(position)
        for other in node.linked if node else ():
            locals_ = talk.by_id[other].all_message_ids if other in talk.by_id else ()
            share = SHARE * verdict.chances[position] / max(len(locals_), 1)
            _raise(chances, (local - 1 for local in locals_), share)
    return _search("thread", chances)


def _replies(talk: Talk, verdict: Verdict) -> Search:
    """The next message of the other person."""
    chances: dict[int, float] = {}
    for position in verdict.ranked[: 2 * HITS]:
        speaker = talk.messages[position].speaker
        after = range(position + 1, min(position + 1 + NEIGHBOURS, len(talk.messages)))
        reply = next((at for at in after if talk.messages[at].speaker != speaker), None)
        _raise(chances, () if reply is None else (reply,), SHARE * verdict.chances[position])
    return _search("reply", chances)


def _raise(chances: dict[int, float], positions: Iterable[int], chance: float) -> None:
    for position in positions:
        chances[position] = max(chances.get(position, 0.0), chance)


def _search(why: str, chances: dict[int, float]) -> Search:
    ranked = sorted(chances, key=lambda position: (-chances[position], position))
    return Search("", why, tuple(ranked), tuple(chances[position] for position in ranked))
