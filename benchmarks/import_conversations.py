"""How long an import takes, and how much memory, by the size of its file.

    .venv/bin/python benchmarks/import_conversations.py [CONVERSATIONS]

Uses a database of its own in a temporary folder, and a file of conversations of eight messages with
150 characters each.
"""

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

MESSAGES = 8
ROOT = Path(__file__).resolve().parent.parent


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"ASSAY_DATA_DIR": folder, "ASSAY_ENV_FILE": os.devnull, "DATABASE_URL": ""}
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
    for title in ("first import", "same again"):
        started, busy = time.perf_counter(), time.process_time()
        with path.open("rb") as file:
            report = import_files(project_slug="speed", files=[(path.name, file)])
        seconds, busy = time.perf_counter() - started, time.process_time() - busy
        print(
            f"{title}: {report.read} conversations, {count * MESSAGES} messages, "
            f"{path.stat().st_size / 1e6:.0f} MB in {seconds:.1f} s, {busy:.1f} s of them computing"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux: kilobytes
    print(f"peak memory of the process: {peak:.0f} MB")


def write(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            messages = [
                {"role": "user", "content": f"message {index} of {number} ".ljust(150, "x")}
                for index in range(MESSAGES)
            ]
            file.write(json.dumps({"id": f"talk-{number}", "messages": messages}) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
