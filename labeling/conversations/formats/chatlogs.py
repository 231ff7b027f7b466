"""Chats in JSON: of OpenAI, ShareGPT, Claude, Gemini, Discord, Slack, Telegram, Instagram,
Messenger; ChatGPT's export.

A file is JSON Lines, one JSON list, or objects one after another. What only a machine reads
(system prompts, thoughts, calls of tools and their results) is left out and listed, unless roles
ask for it.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import unescape
from itertools import pairwise
from typing import Any, BinaryIO

from labeling.conversations.formats.answers import LineFault
from labeling.conversations.formats.reading import json_lines, json_list, json_objects
from labeling.conversations.formats.recordings import messages_of
from labeling.conversations.formats.talks import (
    MACHINES,
    MAX_BYTES,
    ROLES,
    HowToRead,
    SaidTurn,
    Talk,
    head_of,
    id_by_content,
    shown_time,
    stem_of,
)
from labeling.conversations.formats.times import time_in
from labeling.conversations.rules.importing import SPLITS, LeftOut, Problem
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact

IDS = (
    "id", "conversation_id", "uuid", "chat_id", "session_id", "thread_id", "sessionId",
    "dialogue_id",
)  # fmt: skip
OF_CONVERSATION = (*IDS[1:2], *IDS[3:], "message_tree_id")
"""Of them those that say of a message on a line of its own in which conversation it stands."""
TITLES = ("title", "name")
TIMES = (
    "time", "timestamp", "created_at", "create_time", "date", "ts", "timestamp_ms", "sent_at",
    "createdAt", "created_date", "originalarrivaltime",
)  # fmt: skip
MESSAGES = (
    "messages", "conversations", "conversation", "chat_messages", "contents", "chunks", "data",
    "input", "utterances", "segments", "audio_segments", "transcript", "turns", "dialog",
    "dialogue", "comments", "MessageList",
)  # fmt: skip
TREE = "mapping"
SHOWN = ("text", "multimodal_text")
EVERYBODY = "all"
ID_CHARACTERS = 8
"""Of the id of a chat next to its title, which several may have."""
WHO = (
    "role", "from", "author", "sender", "speaker", "user", "username", "sender_name", "senderName",
    "speaker_name", "speaker_label", "creator", "author_id", "senderId",
)  # fmt: skip
WHAT = (
    "content",
    "value",
    "text",
    "parts",
    "message",
    "transcript",
    "sentence",
    "utterance",
    "body",
)
PERSON = ("role", "nickname", "name", "global_name", "username", "display_name", "real_name")
PARTS: Mapping[str, str] = {
    "image_url": "[image]",
    "image_file": "[image]",
    "input_image": "[image]",
    "image": "[image]",
    "input_audio": "[audio]",
    "audio": "[audio]",
    "file": "[file]",
    "input_file": "[file]",
    "document": "[file]",
    "image_asset_pointer": "[image]",
    "audio_asset_pointer": "[audio]",
}
"""Replaces a part of a message that is not text, so that the answer to it can be understood."""
_NOT_SAID = """
    thinking redacted_thinking reasoning thought thoughts tool_use tool_result tool_call
    tool_calls server_tool_use web_search_tool_result function function_call function_call_output
    observation custom_tool_call custom_tool_call_output web_search_call file_search_call
    computer_call code_interpreter_call mcp_call service internal_note
"""
NOT_SAID = frozenset(_NOT_SAID.split())
"""Kinds of parts and of messages that hold text and are not addressed to a person."""
BY_PROGRAM = (
    "service", "channel_join", "channel_leave", "channel_topic", "channel_name", "RecipientAdd",
    "RecipientRemove", "Call", "ChannelNameChange", "ChannelPinnedMessage", "GuildMemberJoin",
)  # fmt: skip
_ENTITIES = """
    bold italic underline strikethrough link text_link mention mention_name code pre hashtag email
    phone bot_command spoiler cashtag custom_emoji blockquote plain
"""
ENTITIES = frozenset(_ENTITIES.split())
"""Parts of a message that stand in its lines."""
_PLACED = {
    *IDS, *TIMES, "model", "object", "type", "subtype", "metadata", "user_profile", "split",
    "from_id", "timestampEdited", "status", "recipient", "channel", "finish_reason", "mentions",
}  # fmt: skip
_OF_TALK = {*_PLACED, *TITLES, "domain", "difficulty", "participants", "thread_path"}
_OF_MESSAGE = {*_PLACED, *WHO, *TITLES, "text_entities", "blocks", "reactions"}


def read(stream: BinaryIO, *, name: str, how: HowToRead) -> Iterator[Talk | Problem]:
    """Messages that stand in the file themselves, in no list of their own, are one conversation,
    or as many as they name.
    """
    alone: dict[str, list[tuple[int, Any]]] = {}
    n_alone = 0
    for entry in documents(stream):
        if isinstance(entry, LineFault):
            yield Problem(entry.line, entry.reason)
        elif is_message(entry[1]):
            message: Any = entry[1]
            named = (message.get(key) for key in OF_CONVERSATION)
            alone.setdefault(next((str(id) for id in named if _names_it(id)), ""), []).append(entry)
            n_alone += 1
            if n_alone > MAX_MESSAGES:
                yield Problem(entry[0], Fact("file.too_long", limit=MAX_BYTES))
                return
        else:
            for document in _inside(entry[1]):
                yield _read(entry[0], document, name)
    for id, entries in alone.items():
        messages = [message for _, message in entries]
        yield _read(entries[0][0], {"id": id, "messages": messages} if id else messages, name)


MAX_MESSAGES = 100_000  # of a conversation


def _read(line: int, document: Any, name: str) -> Talk | Problem:
    try:
        return talk_of(line, document, name=name)
    except FileFault as fault:
        return Problem(line, fault.fact, title_of(document))
    except RecursionError:
        return Problem(line, Fact("file.too_deep"), title_of(document))


ACCOUNTS = {"chats", "chunkedPrompt", "results", "dmConversation", "ticket", "conversation_parts"}


def _inside(document: Any) -> Iterable[Any]:
    """The chats of a whole account are listed in one object."""
    match document:
        case {"chats": {"list": list() as listed}}:
            return listed
        case {"conversations": [{"MessageList": list()}, *_] as listed}:
            return listed
        case {"input": ({"messages": list() as asked} | (list() as asked)), "output": said} if said:
            answers = said if isinstance(said, list) else [said]
            rest = {key: document[key] for key in document if key not in ("input", "output")}
            return [{**rest, "messages": [*asked, *map(_answer, answers)]}]
        case {"participants": list(), "messages": [{"sender_name": str()}, *_]}:
            return [_in_utf8(document)]
        case (
            {"chunkedPrompt": dict() as within}
            | {"results": dict() as within}
            | {"dmConversation": dict() as within}
            | {"ticket": dict() as within}
        ):
            within = {**within, **{key: document[key] for key in IDS if key in document}}
            return [within if _key_of_messages(within) else _recorded(document)]
    return [_recorded(document)]


def _recorded(document: Any) -> Any:
    """With messages of its own, where it has its words in another form."""
    if not isinstance(document, dict) or is_tree(document) or _key_of_messages(document):
        return document
    head = {key: document[key] for key in IDS if key in document}
    return {**head, "messages": said} if (said := messages_of(document)) else document


def _answer(said: Any) -> dict[str, Any]:
    return {"role": "assistant", **(said if isinstance(said, dict) else {"content": said})}


def _in_utf8(value: Any) -> Any:
    """Instagram and Messenger write each byte of a text as a separate letter."""
    match value:
        case str():
            try:
                return value.encode("latin-1").decode()
            except UnicodeError:
                return value
        case list():
            return [_in_utf8(each) for each in value]
        case dict():
            return {key: _in_utf8(each) for key, each in value.items()}
    return value


def documents(stream: BinaryIO) -> Iterable[tuple[int, Any] | LineFault]:
    """The conversations of any of the three forms, with the line on which each begins."""
    start = head_of(stream).removeprefix(BOM_UTF8).lstrip()
    if start.startswith(b"["):
        return json_list(stream, limit=MAX_BYTES)
    line, ending, _ = start.partition(b"\n")
    if ending and line.rstrip()[-1:] in b"{[,:":  # an object goes on over several lines
        return json_objects(stream, limit=MAX_BYTES)
    return json_lines(stream, limit=MAX_BYTES)


def talk_of(line: int, document: Any, *, name: str) -> Talk:
    """One conversation of a chat log; also of a table whose rows hold whole conversations."""
    if isinstance(document, list):
        document = {"messages": document}
    if not isinstance(document, dict):
        raise FileFault("file.must_be_object", path=Fact("place.line"))
    reading = _Reading(line)
    for path, message in _messages(document, reading):
        reading.take(message, path)
    key = _key_of_messages(document)
    said = {key} if key else {said for _, said in _pair(document)}
    reading.leave_out_values(document, {*_OF_TALK, *said, TREE, "current_node"})
    split, domain = document.get("split"), document.get("domain")
    return Talk(
        line=line,
        id=_id(document) or id_by_content(name, reading.turns),
        turns=reading.turns,
        left_out=reading.left_out,
        domain=domain if isinstance(domain, str) else "",
        split=split if split in SPLITS else "",
    )


class _Reading:
    """The messages of one conversation, and what is none."""

    def __init__(self, line: int) -> None:
        self.turns: list[SaidTurn] = []
        self.left_out: list[LeftOut] = []
        self._line = line

    def leave_out(self, code: str, value: Any, **values: str) -> None:
        self.left_out.append(LeftOut(self._line, Fact(code, **values), " ".join(_texts(value))))

    def leave_out_values(self, document: Mapping[str, Any], placed: set[str], at: str = "") -> None:
        """What stands in words under other keys."""
        for key, value in document.items():
            texts = () if key in placed else _texts(value)
            if any(" " in text or (at and any(map(str.isalpha, text))) for text in texts):
                self.leave_out("left_out.no_place", value, path=f"{at}{shown_time(key)}")

    def take(self, message: Any, path: str) -> None:
        message = _opened(message)
        if not isinstance(message, dict):
            raise FileFault("file.must_be_object", path=path)
        kind = str(message.get("subtype") or message.get("type") or "")
        who = _who(message, path, is_needed=kind not in NOT_SAID)
        if kind in NOT_SAID or not who or kind in BY_PROGRAM:
            code = "left_out.by_program" if kind in BY_PROGRAM else "left_out.kind"
            self.leave_out(
                code, _unnamed(message), **({} if kind in BY_PROGRAM else {"kind": kind})
            )
            return
        before = len(self.left_out)
        said = [key for key in WHAT if key in message]
        key = next((key for key in said if message[key]), (*said, WHAT[0])[0])
        text = self._text(message.get(key), f"{path}.{key}")
        placed = {*_OF_MESSAGE, key, "refusal"}
        if isinstance(refused := message.get("refusal"), str) and refused.strip():
            text = "\n".join(filter(None, (text, refused)))
        if message.get("isThought") or message.get("thought") is True:
            self.leave_out("left_out.kind", text, kind="thought")
            return
        repeated = {
            key for key in WHAT if isinstance(message.get(key), str) and message[key] in text
        }
        self.leave_out_values(message, placed | repeated, f"{path}.")
        if text.strip():
            is_slack = "ts" in message and message.get("type") == "message"
            self.turns.append(_turn(message, who, unescape(text) if is_slack else text))
        elif len(self.left_out) == before:
            self.leave_out("left_out.no_text", "", name=who)

    def _text(self, content: Any, path: str) -> str:
        match content:
            case None:
                return ""  # a message that only calls tools
            case str():
                return content
            case list():
                return self._joined(content, path)
            case {"content_type": str() as kind} if kind not in SHOWN:
                self.leave_out("left_out.kind", _unnamed(content), kind=shown_time(kind))
                return ""
            case {"parts": list() as parts}:
                return self._joined(parts, path)
            case {"text": str()} | {"text": {"value": str()}}:
                return self._part(content, path)
        raise FileFault("file.must_be_text", path=f'"{path}"')

    def _joined(self, parts: list[Any], path: str) -> str:
        """Links and bold words of a text stand within a line; other parts each begin one."""
        is_inline = any(isinstance(part, str) for part in parts) and any(
            isinstance(part, dict) and str(part.get("type")) in ENTITIES for part in parts
        )
        return ("" if is_inline else "\n").join(filter(None, (self._part(p, path) for p in parts)))

    def _part(self, part: Any, path: str) -> str:
        if isinstance(part, str):
            return part
        if not isinstance(part, dict):
            raise FileFault("file.must_be_object", path=f'"{path}"')
        kind = str(part.get("type", part.get("content_type", "")))
        is_said = kind not in NOT_SAID and part.get("thought") is not True
        match part if is_said else None:
            case (
                {"text": str() as text}
                | {"type": "text", "content": str() as text}
                | {"text": {"value": str() as text}}
                | {"refusal": str() as text}
            ):
                placed = {"text", "content", "refusal", "type", "annotations", "citations", "href"}
                self.leave_out_values(part, placed, f"{path}.")
                return text
        what = kind or ", ".join(map(str, part))
        self.leave_out("left_out.kind", _unnamed(part), kind=shown_time(what))
        return PARTS.get(kind, "") if is_said else ""


def _opened(message: Any) -> Any:
    """LangChain, Claude Code and X have a message within what says its kind."""
    match message:
        case {"type": str(), "message": {"role": str(), "content": _} as data}:
            return {**message, **data, "message": None}
        case {"type": str() as kind, "data": {"content": _} as data}:
            return {**data, "role": kind}
        case {"messageCreate": dict() as data}:
            return data
    return message


def _unnamed(value: Mapping[str, Any]) -> dict[str, Any]:
    """Without what says who, when and what kind."""
    placed = {*_PLACED, "type", "content_type", "author", "role", "from", "recipient"}
    return {key: each for key, each in value.items() if key not in placed}


def _texts(value: Any) -> Iterator[str]:
    """All texts and numbers in a value."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _messages(document: Mapping[str, Any], reading: _Reading) -> Iterator[tuple[str, Any]]:
    """Each with its place in the document."""
    if is_tree(document):
        yield from _branch(document["mapping"], document.get("current_node"), reading)
        return
    key = _key_of_messages(document)
    if key is None and (pair := _pair(document)):
        yield from ((said, {"role": who, "content": document[said]}) for who, said in pair)
        return
    if key is None:
        raise FileFault("file.no_messages", names=[*MESSAGES, TREE])
    listed = document[key]["data"] if isinstance(document[key], dict) else document[key]
    if _is_newest_first(listed):
        listed = listed[::-1]
    for index, message in enumerate(_answered_once(listed, reading)):
        yield f"{key}[{index}]", message


ASKED = ("prompt", "question", "instruction")
ANSWERED = ("response", "completion", "answer", "output")


def _pair(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """One question and its answer, as logs of language models have them in a line."""
    asked = [key for key in ASKED if isinstance(document.get(key), str)]
    answered = [key for key in ANSWERED if isinstance(document.get(key), str)]
    return [("user", asked[0]), ("assistant", answered[0])] if asked and answered else []


_OF_TREE = {"message_tree_id", "parent_id", "message_id"}


def _answered_once(listed: list[Any], reading: _Reading) -> Iterator[Any]:
    """Of several answers to one message the first, as the tree of OpenAssistant has them."""
    answered = set[str | None]()
    kept: set[str | None] = {None}
    for message in listed:
        if isinstance(message, dict) and message.keys() >= _OF_TREE:
            parent = str(message["parent_id"]) if message["parent_id"] else None
            if parent not in kept or parent in answered:
                reading.leave_out("left_out.other_branch", _unnamed(message))
                continue
            answered.add(parent)
            kept.add(str(message["message_id"]))
        yield message


def _key_of_messages(document: Mapping[str, Any]) -> str | None:
    for key in MESSAGES:
        match document.get(key):
            case list() | {"data": list()}:
                return key
    return None


def _is_newest_first(messages: Sequence[Any]) -> bool:
    """By the times of all messages."""
    opened = map(_opened, messages)
    times = [_seconds(message) for message in opened if isinstance(message, dict)]
    known = [time for time in times if time is not None]
    if len(known) < max(2, len(messages)):
        return False
    return known[0] > known[-1] and all(one >= two for one, two in pairwise(known))


def _seconds(message: Mapping[str, Any]) -> float | None:
    time = next((message[key] for key in TIMES if message.get(key) not in (None, "")), None)
    if isinstance(time, str):
        try:
            moment = datetime.fromisoformat(time_in(time) or "")
        except (FileFault, ValueError):
            return float(time) if time.replace(".", "", 1).isdecimal() else None
        return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
    return None if time is None or isinstance(time, bool | list | dict) else float(time)


def is_tree(document: Any) -> bool:
    """Whether it is a chat as ChatGPT exports it: every message with what was tried instead."""
    return isinstance(document, dict) and isinstance(document.get(TREE), dict)


def _branch(nodes: Mapping[str, Any], current: Any, reading: _Reading) -> Iterator[tuple[str, Any]]:
    """The messages that the page shows: from the current one up to the first, turned round."""
    if not isinstance(current, str) or current not in nodes:
        raise FileFault("file.no_current_node")
    branch: dict[str, Any] = {}
    while isinstance(current, str) and current in nodes and current not in branch:
        node = nodes[current]
        if not isinstance(node, dict):
            raise FileFault("file.must_be_object", path=f"{TREE}.{shown_time(current)}")
        branch[current] = node.get("message")
        current = node.get("parent")
    for name, message in reversed(branch.items()):
        if message is None:  # the root has none
            continue
        if _is_hidden(message):
            reading.leave_out("left_out.hidden", _unnamed(message.get("content") or {}))
        else:
            yield f"{TREE}.{shown_time(name)}", message
    for name, node in nodes.items():
        message = node.get("message") if isinstance(node, dict) else None
        if name not in branch and isinstance(message, dict) and message.get("content"):
            reading.leave_out("left_out.other_branch", _unnamed({"is": message["content"]}))


def _is_hidden(message: Any) -> bool:
    """Whether the page does not show it: calls of tools, instructions."""
    if not isinstance(message, dict) or not isinstance(message.get("content"), dict):
        return False
    metadata = message.get("metadata")
    is_hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    return bool(is_hidden) or message.get("recipient", EVERYBODY) != EVERYBODY


def _id(document: Mapping[str, Any]) -> str:
    values = (document.get(key) for key in IDS)
    id = next((str(value) for value in values if _names_it(value)), "")
    title = next((document[key] for key in TITLES if isinstance(document.get(key), str)), None)
    if not id and isinstance(document.get("channel"), dict):
        id = _id(document["channel"])
    is_export = is_tree(document) or isinstance(document.get("chat_messages"), list)
    if not (id and is_export and isinstance(title, str)):
        return id
    words = " ".join(title.replace("/", " ").replace("\\", " ").split())
    return f"{stem_of(f'{words}.json' if words else '')} {id[:ID_CHARACTERS]}"


def title_of(document: Any) -> str:
    """By which a person knows a conversation that cannot be read."""
    if not isinstance(document, dict):
        return ""
    known = (document.get(key) for key in (*TITLES, *IDS))
    return next((str(value) for value in known if _names_it(value)), "")


def _names_it(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _who(message: Mapping[str, Any], path: str, *, is_needed: bool) -> str:
    """As the message says it; empty where nobody has to."""
    profile = message.get("user_profile")
    kind = message.get("type")
    is_kind = isinstance(kind, str) and kind.casefold() in ROLES | MACHINES
    known = [profile, *(message.get(key) for key in WHO), kind if is_kind else None]
    for who in known:
        if isinstance(who, dict):  # {"role": "user", "name": null}
            who = next((who[key] for key in PERSON if isinstance(who.get(key), str)), None)
        if isinstance(who, int) and not isinstance(who, bool):
            return f"Speaker {who}"
        if isinstance(who, str) and who.strip():
            return who
    if is_needed and "start" in message:  # a recorder did not know who speaks
        return "speaker"
    if is_needed:
        raise FileFault("file.missing", path=f'"{path}.role"')
    return ""


def _turn(message: Mapping[str, Any], who: str, text: str) -> SaidTurn:
    named = message.get("name")
    is_person = isinstance(named, str) and named.strip() and who in ("user", "assistant", "human")
    time = next((message[key] for key in TIMES if message.get(key) not in (None, "")), "")
    return SaidTurn(
        name=str(named) if is_person else who,
        text=text,
        time=str(time) if isinstance(time, str | int | float) else "",
        role={"human": "user"}.get(who, who) if is_person else "",
    )


def is_message(value: Any) -> bool:
    value = _opened(value)
    return (
        isinstance(value, dict)
        and not is_document(value)
        and any(isinstance(value.get(key), str | int | dict) for key in WHO)
        and any(isinstance(value.get(key), str | list | dict) for key in WHAT)
    )


def is_document(value: Any) -> bool:
    """Whether a JSON value looks like a conversation of a chat log, or like a message of one."""
    if not isinstance(value, dict):
        return False
    return is_tree(value) or _key_of_messages(value) is not None or bool(ACCOUNTS & value.keys())


def first_of(stream: BinaryIO) -> Any:
    """The first JSON value of a file; None where it cannot be read."""
    entry = next(iter(documents(stream)), None)
    stream.seek(0)
    return None if entry is None or isinstance(entry, LineFault) else entry[1]
