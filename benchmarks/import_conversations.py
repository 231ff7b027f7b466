"""How long an import takes, how much memory, and how long others wait for it.

    .venv/bin/python benchmarks/import_conversations.py [CONVERSATIONS]

Uses a separate database in a temporary folder (or that of DATABASE_URL, which must be empty), and
a file of conversations of twelve messages with 25 words each. A second process writes a small row
every 20 ms meanwhile, as an annotator's autosave would.
"""

import gc
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MESSAGES, WORDS = 12, 25
ROOT = Path(__file__).resolve().parent.parent
PAUSE = 0.02


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"ASSAY_DATA_DIR": folder, "ASSAY_ENV_FILE": os.devnull}
        os.environ.setdefault("DATABASE_URL", "")
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        sys.path.insert(0, str(ROOT))
        measure(Path(folder) / "talks.jsonl", count)


def measure(path: Path, count: int) -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from labeling.services.exchange.conversations import import_files

    call_command("migrate", verbosity=0)
    write(path, count)
    gc.freeze()  # as the command does
    for title, dry_run in (("dry run", True), ("first import", False), ("same again", False)):
        probe = subprocess.Popen(
            [sys.executable, __file__, "probe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert probe.stdout is not None
        probe.stdout.readline()
        started, busy = time.perf_counter(), time.process_time()
        with path.open("rb") as file:
            report = import_files(project_slug="speed", files=[(path.name, file)], dry_run=dry_run)
        seconds, busy = time.perf_counter() - started, time.process_time() - busy
        waits, _ = probe.communicate(b"\n")
        print(
            f"{title}: {report.read} conversations, {count * MESSAGES} messages, "
            f"{path.stat().st_size / 1e6:.0f} MB in {seconds:.1f} s, "
            f"{busy:.2f} s of them computing ({report.read / busy:,.0f} a second); "
            f"{waits.decode().strip()}"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux: kilobytes
    print(f"peak memory of the process: {peak:.0f} MB")


def probe() -> None:
    """Write a row every 20 ms until the other process has finished; say how long each took."""
    import select

    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    from labeling.models import Event

    waits = []
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], PAUSE)[0]:
        started = time.perf_counter()
        Event.objects.create(verb="speed.probed", object_type="probe", object_id=0)
        waits.append(time.perf_counter() - started)
    waits.sort()
    last = waits[int(len(waits) * 0.99)] if waits else 0
    print(
        f"{len(waits)} writes of another process, p99 {last * 1000:.0f} ms, "
        f"longest {max(waits, default=0) * 1000:.0f} ms"
    )


def write(path: Path, count: int) -> None:
    dice = random.Random(1)
    words = ["".join(dice.choices("abcdeilmnorstu", k=dice.randint(2, 9))) for _ in range(5000)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            messages = [
                {
                    "role": ("user", "analyst")[n % 2],
                    "content": " ".join(dice.choices(words, k=WORDS)),
                }
                for n in range(MESSAGES)
            ]
            file.write(json.dumps({"id": f"talk-{number}", "messages": messages}) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["probe"]:
        probe()
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
