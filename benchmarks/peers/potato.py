"""Potato: one process that keeps everything in memory and a file a person."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.peers import machine, system
from benchmarks.peers.client import Client, hidden

KEY = "peers-admin-key"
THREE = ("ana", "ben", "cleo")


class Potato(system.System):
    name, version = "Potato", "2.12.1"
    programs_in: ClassVar[Path]

    @classmethod
    def install(cls, cache: Path) -> None:
        packages = [f"potato-annotation=={cls.version}"]
        cls.programs_in = machine.environment(cache, "potato", packages)

    def start(self) -> None:
        """With one conversation: it takes up conversations at its start only."""
        self._start(self.talks[:1])

    def _start(self, talks: list[system.Talk]) -> None:
        rows: list[dict[str, object]] = [{"id": t["id"], "text": system.as_text(t)} for t in talks]
        (self.folder / "talks.jsonl").write_bytes(system.lines(rows))
        (self.folder / "config.yaml").write_text(json.dumps(self._settings()))
        command = [str(self.programs_in / "potato"), "start", "config.yaml"]
        self.launch("web", [*command, "-p", str(self.port)])
        self.wait_for("/health")

    def _settings(self) -> dict[str, Any]:
        """JSON is YAML. A person gets a tenth of the conversations when they sign in."""
        topic = {"annotation_type": "radio", "name": "topic", "description": "Topic"}
        return {
            "annotation_task_name": "Talks",
            "task_dir": ".",
            "output_annotation_dir": "output",
            "data_files": ["talks.jsonl"],
            "item_properties": {"id_key": "id", "text_key": "text"},
            "require_password": False,
            "user_config": {"allow_all_users": True, "users": []},
            "annotation_schemes": [{**topic, "labels": list(system.TOPICS)}],
            "max_annotations_per_user": max(1, len(self.talks) // 10),
            "max_annotations_per_item": 1,
            "admin_api_key": KEY,
        }

    def fill(self) -> None:
        self.stop()
        self._start(self.talks)
        self.lead = Client(self.port, **{"X-API-Key": KEY})

    def people(self, number: int) -> list[system.Annotator]:
        return [self._signed_in(f"person{n}") for n in range(number)]

    def _signed_in(self, name: str) -> Annotator:
        client = Client(self.port)
        client.form("/auth", {"email": name, "pass": ""})
        client.get("/annotate")
        return Annotator(client)

    def stored(self) -> Counter[str]:
        states = (self.folder / "output").glob("*/user_state.json")
        return Counter(
            key
            for state in states
            for key, labels in json.loads(state.read_text())[
                "instance_id_to_label_to_value"
            ].items()
            if labels
        )

    def list_page(self) -> None:
        self.lead.get("/admin/api/instances?page=1&page_size=100")

    def answer_everything(self) -> None:
        """Three people's files as it writes them, in place of those that were there."""
        self.stop()
        output = self.folder / "output"
        state = json.loads(next(output.glob("person*/user_state.json")).read_text())
        keys = [talk["id"] for talk in self.talks]
        for person, name in enumerate(THREE):
            (output / name).mkdir()
            answers = {key: [_label(system.topic(n, person))] for n, key in enumerate(keys)}
            own = {"user_id": name, "instance_id_ordering": keys, "max_assignments": len(keys)}
            theirs = {**state, **own, "instance_id_to_label_to_value": answers}
            (output / name / "user_state.json").write_text(json.dumps(theirs))
        for path in output.glob("person*/user_state.json"):
            path.unlink()
        self._start(self.talks)

    def export(self) -> int:
        python, target = str(self.programs_in / "python"), self.folder / "export"
        options = ["--config", "config.yaml", "--format", "csv", "--output", str(target)]
        self.run("export", [python, "-m", "potato.export", *options])
        files = [path for path in target.rglob("*") if path.is_file()]
        return sum(path.stat().st_size for path in files)

    def agreement(self) -> None:
        figures = self.lead.json("GET", "/admin/api/agreement")
        if figures["by_schema"]["topic"].get("error"):
            raise machine.Failed(str(figures["by_schema"]["topic"]["error"]))


class Annotator:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._shown = ""

    def next(self) -> str:
        """The page of the next conversation, by the button of the one that is shown."""
        body = {"action": "next_instance", "instance_id": self._shown}
        page = self._client.send("POST", "/annotate", json.dumps(body).encode(), "application/json")
        self._shown = hidden(page, "instance_id")
        return self._shown

    def page(self, key: str) -> None:
        """The page is the answer to "next"."""

    def submit(self, key: str) -> None:
        body = {"instance_id": key, "annotations": {"topic:::order": "order"}}
        self._client.json("POST", "/updateinstance", body)

    def own(self) -> list[str]:
        """The last half of what was handed out at the sign-in: "next" walks from the first."""
        page = self._client.json("GET", "/api/current_instance")
        self._shown = page["instance_id"]
        number = int(re.sub(r"\D", "", self._shown))
        total = page["total_instances"]
        return [f"talk-{n:06}" for n in range(number + total // 2, number + total)]


def _label(name: str) -> list[Any]:
    return [{"schema": "topic", "name": name}, name]
