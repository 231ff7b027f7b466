"""The rows of a Parquet file, read by a process that may not hold much memory.

A small file can say that it holds gigabytes, or hold them: only this process would run out of
memory, not the one that asks. It answers in lines of JSON: the names of the columns, then, once it
gets the list of those wanted, a list of values for each row.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from textwrap import shorten
from typing import IO, Any, BinaryIO

from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid

MEMORY = 2 * 1024**3
"""Bytes of addresses; some 700 MB of them are the library's own."""
ROW_BYTES = 32 * 1024 * 1024
"""Of a row as JSON: a longer one is not sent, and told from others by being null."""
ROWS = 16
MARK = b"PAR1"
ROOT = Path(__file__).parents[3]


class Rows:
    """What such a process says; to be used within :func:`opened`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.names: list[str] = self._next()

    def of(self, columns: Sequence[str]) -> Iterator[tuple[int, list[Any] | None]]:
        """The values of these columns by the number of the row, from 1; None of one too long."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(list(columns)).encode() + b"\n")
        self._process.stdin.close()
        number = 0
        while (row := self._next()) != "end":
            number += 1
            yield number, row

    def _next(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        said = json.loads(line) if line.endswith(b"\n") else {"fault": "out of memory"}
        if isinstance(said, dict):
            raise FileFault("file.not_parquet", why=said["fault"])
        return said


@contextmanager
def opened(stream: BinaryIO) -> Iterator[Rows]:
    """The rows of a file.

    Raises
    ------
    FileFault
        It cannot be read, now or further on.
    """
    with TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        copy.flush()
        if copy.tell() < len(2 * MARK) or not (_at(copy, 0) == _at(copy, -len(MARK)) == MARK):
            raise FileFault("file.not_parquet", why=Fact(msgid("its end is missing")))
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(copy.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=[copy.fileno()],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        )
        try:
            yield Rows(process)
        finally:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()
            process.wait()


def _at(file: IO[bytes], place: int) -> bytes:
    file.seek(place, os.SEEK_SET if place >= 0 else os.SEEK_END)
    return file.read(len(MARK))


def _limited() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _say(value: Any) -> None:
    said = json.dumps(value, default=_plain, ensure_ascii=False).encode(errors="replace")
    sys.stdout.buffer.write(b"null\n" if len(said) > ROW_BYTES else said + b"\n")


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _main() -> None:
    from pyarrow import parquet

    with os.fdopen(int(sys.argv[1]), "rb") as stream:
        limits = {"thrift_string_size_limit": 16 * 2**20, "thrift_container_size_limit": 2**20}
        file = parquet.ParquetFile(stream, **limits)
        _say(file.schema_arrow.names)
        sys.stdout.flush()
        columns = json.loads(sys.stdin.readline() or "null")
        if columns is None:
            return
        for batch in file.iter_batches(batch_size=ROWS, columns=columns, use_threads=False):
            places = [batch.schema.names.index(column) for column in columns]
            for at in range(batch.num_rows):
                _say([batch.column(place)[at].as_py() for place in places])
        _say("end")


if __name__ == "__main__":
    _limited()
    try:
        _main()
    except BrokenPipeError:
        os._exit(1)
    except MemoryError:
        _say({"fault": "it takes more memory than it may"})
    except Exception as error:
        _say({"fault": shorten(str(error), 200)})
