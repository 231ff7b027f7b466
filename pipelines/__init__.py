"""The systems under test. They know nothing of Django, of labels or of metrics."""

import os

# Threads of linear algebra that wait for each other on busy cores make a question three times as
# slow. Read when numpy is loaded, so this is set before any of our modules can load it.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
