"""What the threshold of "the same conversation" rests on, and how long a search takes.

    .venv/bin/python benchmarks/fingerprints.py [FILE …] [--stored 100000]

``FILE`` are native lines or published chats (REALTALK, LoCoMo): of all pairs of conversations in
them it prints how many share how much, and the names of those that are nearest to the threshold.
Without files it prints what generated chats say: how many copies are recognised of which an excerpt
is taken, or some words replaced. ``--stored`` fills a database in a temporary folder with that many
generated conversations and measures searches in it.
"""

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from itertools import combinations, pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from labeling.domain.fingerprints import SAME_SHARE, Fingerprint, fingerprint, is_same, overlap  # noqa: E402

STEPS = (0.0, 0.02, 0.05, 0.1, 0.2, SAME_SHARE, 0.4, 0.6, 0.8, 1.01)
VOCABULARY = [f"word{number}" for number in range(4000)]
TRIES = 200


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--stored", type=int, default=0)
    options = parser.parse_args()
    if options.files:
        compare({name: fingerprint(texts) for path in options.files for name, texts in read(path)})
    elif not options.stored:
        recognise()
    if options.stored:
        search(options.stored)


def read(path: Path) -> list[tuple[str, list[str]]]:
    from labeling.domain.chats import read_chat
    from labeling.domain.chats.files import format_of
    from labeling.domain.chats.reading import parse

    raw = path.read_bytes()
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in raw.splitlines() if line.strip()]
        return [(row["id"], [turn["content"] for turn in row["messages"]]) for row in rows]
    chat = read_chat(path.name, raw, format=format_of(parse(raw)))
    return [(f"{chat.format} {chat.id}", [turn.content for turn in chat.turns])]


def compare(prints: dict[str, Fingerprint]) -> None:
    pairs = [
        (overlap(prints[one], prints[other]), is_same(prints[one], prints[other]), one, other)
        for one, other in combinations(prints, 2)
    ]
    print(f"{len(prints)} conversations, {len(pairs)} pairs; share of the smaller one:")
    for low, high in pairwise(STEPS):
        inside = [pair for pair in pairs if low <= pair[0].share < high]
        print(
            f"  {low:4.2f} to {min(high, 1):4.2f}: {len(inside):6} pairs, "
            f"{sum(pair[1] for pair in inside)} of them the same conversation"
        )
    same, others = [p for p in pairs if p[1]], [p for p in pairs if not p[1]]
    for title, ranked in (
        ("least alike of the same", sorted(same)[:5]),
        ("most alike of the others", sorted(others)[:-6:-1]),
    ):
        print(title)
        for shared, _, one, other in ranked:
            print(f"  {shared.share:.2f} ({shared.runs} runs of words)  {one}  {other}")


def recognise() -> None:
    print("share of 200 copies that are recognised, and of other chats that are taken for it")
    print("messages  excerpt          words replaced, one in              others")
    print("          1/2  1/10 1/50    100   20   10    7    5")
    for messages in (3, 8, 40, 680, 1500):
        shown = [excerpts(messages, part) for part in (2, 10, 50)]
        shown += [replaced(messages, rate) for rate in (100, 20, 10, 7, 5)]
        print(f"{messages:8} " + "".join(f"{value:5.2f}" for value in (*shown, others(messages))))


def excerpts(messages: int, part: int) -> float:
    length = max(2, messages // part)
    return share_of(
        lambda rng, talk: talk[(at := rng.randrange(len(talk) - length + 1)) : at + length],
        messages,
    )


def replaced(messages: int, one_in: int) -> float:
    def change(rng: random.Random, talk: list[str]) -> list[str]:
        return [
            " ".join("other" if rng.random() < 1 / one_in else word for word in text.split())
            for text in talk
        ]

    return share_of(change, messages)


def others(messages: int) -> float:
    return share_of(lambda rng, talk: make(rng, len(talk)), messages)


def share_of(change, messages: int) -> float:
    rng = random.Random(messages)
    tries = TRIES if messages < 100 else TRIES // 10
    same = 0
    for _ in range(tries):
        talk = make(rng, messages)
        same += is_same(fingerprint(talk), fingerprint(change(rng, talk)))
    return same / tries


def make(rng: random.Random, messages: int) -> list[str]:
    """Half of the words are the commonest fifty, as in speech."""
    return [
        " ".join(
            rng.choice(VOCABULARY[:50] if rng.random() < 0.5 else VOCABULARY)
            for _ in range(rng.randint(6, 30))
        )
        for _ in range(messages)
    ]


def search(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"ASSAY_DATA_DIR": folder, "ASSAY_ENV_FILE": os.devnull, "DATABASE_URL": ""}
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        fill(count)
        measure(count, Path(folder))


def fill(count: int) -> None:
    from labeling.models import Conversation, Project
    from labeling.services import near_duplicates

    project = Project.objects.create(slug="speed", name="Speed")
    rng = random.Random(1)
    for start in range(0, count, 5000):
        rows = Conversation.objects.bulk_create(
            Conversation(
                project=project, external_id=f"talk-{number}", n_messages=8, content_sha256="0" * 64
            )
            for number in range(start, min(start + 5000, count))
        )
        near_duplicates.store([(row.pk, fingerprint(make(rng, 8))) for row in rows])


def measure(count: int, folder: Path) -> None:
    from labeling.models import Conversation
    from labeling.services import near_duplicates

    rng = random.Random(1)
    known, fresh = make(rng, 8), make(random.Random(2), 8)
    for title, talk in (
        ("a copy", [*known, "and one more message"]),
        ("no copy", fresh),
        ("a chat of 1500 messages", make(rng, 1500)),
    ):
        sketch = fingerprint(talk)
        started = time.perf_counter()
        for _ in range(20):
            (matches,) = near_duplicates.find([sketch])
        each = (time.perf_counter() - started) / 20
        print(f"search for {title} among {count}: {1000 * each:.1f} ms, {len(matches)} named")
    started = time.process_time()
    pks = Conversation.objects.order_by("pk").values_list("pk", flat=True)
    named = sum(len(matches) for _, matches in near_duplicates.of_conversations(pks.iterator()))
    busy = time.process_time() - started
    print(f"all {count} against all: {busy:.0f} s of computing, {named} named")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux: kilobytes
    print(f"database {size / 1e6:.0f} MB, peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
