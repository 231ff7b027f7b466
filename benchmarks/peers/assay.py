"""Assay as ``make serve`` runs it, without the demo, on SQLite or PostgreSQL."""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from benchmarks.peers import machine, system
from benchmarks.peers.client import Client, hidden
from benchmarks.product import ROOT, label
from config.postgres import temporary_server

PASSWORD = "peers-1234"
THREE = ("ana", "ben", "cleo")


class Assay(system.System):
    name, version = "Assay, SQLite", "this commit"
    next_has_text = False

    @classmethod
    def install(cls, cache: Path) -> None:
        """It runs in the environment that runs this."""

    def start(self) -> None:
        command = [sys.executable, "-m", "config.command", "serve"]
        self.launch("web", command, **self.settings(), cwd=str(ROOT))
        self.wait_for("/readyz?only=database")

    def settings(self, database: str = "") -> dict[str, str]:
        return {
            "ASSAY_DATA_DIR": str(self.folder),
            "ASSAY_DEMO": "false",
            "ASSAY_ENV_FILE": os.devnull,
            "ASSAY_PORT": str(self.port),
            "DATABASE_URL": database,
        }

    def _manage(self, *arguments: str) -> None:
        command = [sys.executable, "manage.py", *arguments]
        self.run("manage", command, **self.settings(), cwd=str(ROOT))

    def _inside(self, job: str, *arguments: str) -> str:
        """A job of ``assay_inside`` in a separate process; what it says."""
        target = self.folder / "said"
        command = [sys.executable, "-m", "benchmarks.peers.assay_inside", str(target), job]
        self.run("inside", [*command, *arguments], **self.settings(), cwd=str(ROOT))
        return target.read_text()

    def prepare(self) -> None:
        """What both imports need: a lead, and the project that the page imports to."""
        self._inside("prepare", PASSWORD)
        self.lead = self._signed_in("lead")
        rows: list[dict[str, object]] = [{**talk} for talk in self.talks]
        self._file = system.lines(rows)

    def _signed_in(self, username: str) -> Client:
        client = Client(self.port)
        client.sign_in("/sign-in/", username=username, password=PASSWORD)
        return client

    def fill(self) -> None:
        """By the page: a preview, then its button."""
        path, token = "/projects/talks/conversations/import", "csrfmiddlewaretoken"
        fields = {"format": "native", "split": "", token: hidden(self.lead.get(f"{path}/"), token)}
        page = self.lead.upload(f"{path}/preview/", "file", self._file, "talks.jsonl", **fields)
        fields |= {"upload": hidden(page, "upload"), token: hidden(page, token)}
        self.lead.form(f"{path}/store/", fields)

    def fill_by_command(self) -> None:
        (self.folder / "talks.jsonl").write_bytes(self._file)
        file = str(self.folder / "talks.jsonl")
        self._manage("import_conversations", file, "--project", "by-command")

    def people(self, number: int) -> list[system.Annotator]:
        self._inside("people", PASSWORD, str(number), str(system.share(self.talks)))
        return [Annotator(self._signed_in(f"person{n}")) for n in range(number)]

    def stored(self) -> Counter[str]:
        return Counter(json.loads(self._inside("stored")))

    def list_page(self) -> None:
        self.lead.get("/projects/talks/conversations/")

    def answer_everything(self) -> None:
        rows: list[dict[str, object]] = [
            {"id": talk["id"], "answers": [labels_of(n, person) for person in range(len(THREE))]}
            for n, talk in enumerate(self.talks)
        ]
        (self.folder / "labels.jsonl").write_bytes(system.lines(rows))
        options = ["--project", "by-command", "--create-annotators", "--reason", "benchmark"]
        self._manage("import_labels", str(self.folder / "labels.jsonl"), *options)

    def export(self) -> int:
        return len(self.lead.get("/projects/by-command/labels/export/"))

    def agreement(self) -> None:
        """A worker measures them after the import: what is left is to show them."""
        path = "/projects/by-command/rounds/1/agreement/"
        self.wait_until(lambda: b"Positive F1" in self.lead.get(path), "no figures")


class AssayOnPostgres(Assay):
    name = "Assay, PostgreSQL"

    def __init__(self, folder: Path, talks: list[system.Talk]) -> None:
        super().__init__(folder, talks)
        self._server = ExitStack()
        self._address = self._server.enter_context(temporary_server(durable=True))

    def settings(self, database: str = "") -> dict[str, str]:
        return super().settings(database or self._address)

    def stop(self) -> None:
        super().stop()
        self._server.close()


class Annotator:
    def __init__(self, client: Client) -> None:
        self._client = client

    def next(self) -> str:
        taken = self._client.json("POST", "/api/queue/next/", {})["assignment"]
        if taken is None:
            raise machine.Failed("nothing is left to take")
        return str(taken)

    def page(self, key: str) -> None:
        self._client.get(f"/label/{key}/")

    def submit(self, key: str) -> None:
        answer = {"base_version": 0, "client": str(uuid.uuid4()), "seq": 1}
        payload = {"requirements": [_requirement(0, 0)]}
        path = f"/api/annotations/{key}/submit/"
        self._client.json("POST", path, {**answer, "payload": payload})

    def own(self) -> list[str]:
        """What a planned round has handed out."""
        page = self._client.json("GET", "/api/queue/?limit=200")
        return [str(row["id"]) for row in page["results"]]


def labels_of(talk: int, annotator: int) -> dict[str, object]:
    labels = {"requirements": [_requirement(talk, annotator)]}
    return {"annotator": THREE[annotator], "labels": labels}


def _requirement(talk: int, annotator: int) -> dict[str, object]:
    message = 0 if system.topic(talk, annotator) == "order" else 2
    names = {"uid": f"label-{talk}-{annotator}", "id": "REQ-001", "title": "Order Tracking"}
    return label(**names, source_messages=[message])
