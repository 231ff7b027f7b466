"""Label Studio on SQLite, as ``label-studio start`` runs it."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.peers import machine, system
from benchmarks.peers.client import Client

FORM = (
    '<View><Text name="text" value="$text"/><Choices name="topic" toName="text">'
    '<Choice value="order"/><Choice value="other"/></Choices></View>'
)
SILENT = {"COLLECT_ANALYTICS": "0", "LATEST_VERSION_CHECK": "0", "SENTRY_DSN": ""}


class LabelStudio(system.System):
    name, version = "Label Studio", "1.23.2"
    programs_in: ClassVar[Path]

    @classmethod
    def install(cls, cache: Path) -> None:
        packages = [f"label-studio=={cls.version}"]
        cls.programs_in = machine.environment(cache, "label-studio", packages)

    def start(self) -> None:
        place = ["--port", str(self.port), "--internal-host", "127.0.0.1"]
        command = [str(self.programs_in / "label-studio"), "start", "--no-browser", *place]
        account = ["--username", "", "--password", "unused-1234"]
        data = ["--data-dir", str(self.folder)]
        self.launch("web", [*command, *data, *account], **SILENT)
        self.wait_for("/health")

    def fill(self) -> None:
        self.lead = self._signed_up("lead")
        self.project = self._project("Talks", [{"data": _data(talk)} for talk in self.talks])

    def _signed_up(self, name: str) -> Client:
        client = Client(self.port)
        client.sign_in("/user/signup/", email=f"{name}@example.org", password="peers-1234")
        return client

    def _project(self, title: str, tasks: list[dict[str, Any]]) -> int:
        body = {"title": title, "label_config": FORM, "maximum_annotations": 1}
        project: int = self.lead.json("POST", "/api/projects/", body)["id"]
        path = f"/api/projects/{project}/import"
        self.lead.upload(path, "file", json.dumps(tasks).encode(), "tasks.json")
        return project

    def people(self, number: int) -> list[system.Annotator]:
        return [Annotator(self, self._signed_up(f"person{n}"), n) for n in range(number)]

    def stored(self) -> Counter[str]:
        with sqlite3.connect(self.folder / "label_studio.sqlite3") as database:
            rows = database.execute("SELECT task_id FROM task_completion").fetchall()
        return Counter(str(row[0]) for row in rows)

    def list_page(self) -> None:
        self.lead.get(f"/api/tasks?project={self.project}&page_size=100")

    def answer_everything(self) -> None:
        tasks = [
            {"data": _data(talk), "annotations": [{"result": _result(system.topic(n, 0))}]}
            for n, talk in enumerate(self.talks)
        ]
        self.answered = self._project("Answered", tasks)

    def export(self) -> int:
        return len(self.lead.get(f"/api/projects/{self.answered}/export?exportType=JSON"))

    def agreement(self) -> None:
        raise system.Lacking("Enterprise only")


class Annotator:
    def __init__(self, owner: LabelStudio, client: Client, number: int) -> None:
        self._owner, self._client, self._number = owner, client, number

    def next(self) -> str:
        task = self._client.json("GET", f"/api/projects/{self._owner.project}/next")
        return str(task["id"])

    def page(self, key: str) -> None:
        """The task came with its text."""

    def submit(self, key: str) -> None:
        body = {"result": _result("order"), "lead_time": 1.0}
        self._client.json("POST", f"/api/tasks/{key}/annotations/", body)

    def own(self) -> list[str]:
        """Everybody may answer everything: the tasks of one page, which is the person's alone."""
        size = system.share(self._owner.talks)
        query = f"project={self._owner.project}&page_size={size}&page={self._number + 1}"
        tasks = self._client.json("GET", f"/api/tasks?{query}")["tasks"]
        return [str(task["id"]) for task in tasks]


def _data(talk: system.Talk) -> dict[str, str]:
    return {"text": system.as_text(talk), "key": talk["id"]}


def _result(choice: str) -> list[dict[str, Any]]:
    value = {"choices": [choice]}
    return [{"from_name": "topic", "to_name": "text", "type": "choices", "value": value}]
