"""doccano on SQLite: its web server and its task queue, with as many processes as they choose."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.peers import machine, system
from benchmarks.peers.client import Client

PASSWORD = "peers-1234"
# Newer ones are refused by what it was released with.
PINS = ["setuptools<81", "marshmallow<4", "numpy<2"]
TASK = "DocumentClassification"


class Doccano(system.System):
    name, version = "doccano", "1.8.4"
    programs_in: ClassVar[Path]

    @classmethod
    def install(cls, cache: Path) -> None:
        packages = [f"doccano=={cls.version}", *PINS]
        cls.programs_in = machine.environment(cache, "doccano", packages)

    def start(self) -> None:
        program, home = str(self.programs_in / "doccano"), {"DOCCANO_HOME": str(self.folder)}
        self.run("init", [program, "init"], **home)
        account = ["--username", "lead", "--password", PASSWORD]
        self.run("init", [program, "createuser", *account], **home)
        self.launch("web", [program, "webserver", "--port", str(self.port)], **home)
        self.launch("worker", [program, "task"], **home)
        self.wait_for("/v1/health/")

    def fill(self) -> None:
        self.lead = self._signed_in("lead")
        self.project = self._project("Talks", answered=False)

    def _signed_in(self, username: str) -> Client:
        client = Client(self.port)
        client.json("POST", "/v1/auth/login/", {"username": username, "password": PASSWORD})
        return client

    def _project(self, name: str, *, answered: bool) -> int:
        """A project that people share, with a label a conversation if it is to be answered."""
        body = {
            "name": name,
            "description": name,
            "guideline": name,
            "project_type": TASK,
            "resourcetype": "TextClassificationProject",
            "collaborative_annotation": True,
            "single_class_classification": False,
            "random_order": False,
            "tags": [],
        }
        project: int = self.lead.json("POST", "/v1/projects", body)["id"]
        rows: list[dict[str, object]] = [
            {"text": system.as_text(talk), "key": talk["id"]}
            | ({"label": [system.topic(n, 0)]} if answered else {})
            for n, talk in enumerate(self.talks)
        ]
        content = system.lines(rows)
        upload = self.lead.upload("/v1/fp/process/", "filepond", content, "talks.jsonl").decode()
        options = {"format": "JSONL", "task": TASK, "uploadIds": [upload], "encoding": "utf_8"}
        columns = {"column_data": "text", "column_label": "label"}
        path = f"/v1/projects/{project}"
        self._done(self.lead.json("POST", f"{path}/upload", {**options, **columns}))
        return project

    def _done(self, task: dict[str, str]) -> str:
        """Wait for the queue, which says by status whether something is finished."""
        path = f"/v1/tasks/status/{task['task_id']}"
        deadline = time.monotonic() + system.SECONDS_TO_START
        while not (status := self.lead.json("GET", path))["ready"]:
            if time.monotonic() > deadline:
                raise machine.Failed("the task queue does not finish")
            time.sleep(0.1)
        if error := status.get("error"):
            raise machine.Failed(f"the task queue failed: {str(error)[:200]}")
        return task["task_id"]

    def people(self, number: int) -> list[system.Annotator]:
        path = f"/v1/projects/{self.project}"
        label = {"text": "order", "background_color": "#209cee", "suffix_key": None}
        self.label = self.lead.json("POST", f"{path}/category-types", label)["id"]
        roles = {role["name"]: role["id"] for role in self.lead.json("GET", "/v1/roles")}
        people: list[system.Annotator] = []
        for n in range(number):
            account = {"username": f"person{n}", "password1": PASSWORD, "password2": PASSWORD}
            user = self.lead.json("POST", "/v1/users/create", account)["id"]
            member = {"user": user, "role": roles["annotator"]}
            self.lead.json("POST", f"{path}/members", member)
            people.append(Annotator(self, self._signed_in(f"person{n}"), n))
        return people

    def stored(self) -> Counter[str]:
        """An answer counts when it is confirmed."""
        with sqlite3.connect(self.folder / "db.sqlite3") as database:
            rows = database.execute("SELECT example_id FROM examples_examplestate").fetchall()
        return Counter(str(row[0]) for row in rows)

    def list_page(self) -> None:
        self.lead.get(f"/v1/projects/{self.project}/examples?limit=100&offset=0")

    def answer_everything(self) -> None:
        self.answered = self._project("Answered", answered=True)

    def export(self) -> int:
        path = f"/v1/projects/{self.answered}/download"
        task = self._done(
            self.lead.json("POST", path, {"format": "JSONL", "exportApproved": False})
        )
        return len(self.lead.get(f"{path}?taskId={task}"))

    def agreement(self) -> None:
        raise system.Lacking("it has none")


class Annotator:
    def __init__(self, owner: Doccano, client: Client, number: int) -> None:
        self._owner, self._client, self._number = owner, client, number
        self._path = f"/v1/projects/{owner.project}/examples"

    def next(self) -> str:
        return self._examples("limit=1&offset=0&confirmed=false")[0]

    def page(self, key: str) -> None:
        """The example came with its text."""

    def submit(self, key: str) -> None:
        """A label, then the tick that counts it as done."""
        path = f"{self._path}/{key}"
        self._client.json("POST", f"{path}/categories", {"label": self._owner.label})
        self._client.json("POST", f"{path}/states", {})

    def own(self) -> list[str]:
        """Everybody may answer everything: these are the person's alone."""
        size = system.share(self._owner.talks)
        return self._examples(f"limit={size}&offset={size * self._number}")

    def _examples(self, query: str) -> list[str]:
        page: dict[str, Any] = self._client.json("GET", f"{self._path}?{query}")
        return [str(example["id"]) for example in page["results"]]
