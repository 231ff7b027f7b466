"""Linear algebra takes one thread per process: more wait for each other on busy cores."""

import os
import subprocess
import sys

from config.env import ROOT

COUNT = """
import django
django.setup()
import numpy
from threadpoolctl import threadpool_info
print(max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"))
"""


def test_numpy_takes_one_thread_unless_somebody_says_otherwise():
    assert threads() == "1"
    assert threads(OPENBLAS_NUM_THREADS="2") == "2"


def threads(**said: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("NUM_THREADS")}
    environment = {**kept, "DJANGO_SETTINGS_MODULE": "config.settings", **said}
    command = [sys.executable, "-c", COUNT]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
