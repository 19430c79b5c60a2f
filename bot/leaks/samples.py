"""Requests of each capability: about the text that everybody may read, and about each planted one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from bot.capabilities.fields import list_fields
from bot.capabilities.requests import AskOutput
from bot.capabilities.row import Who
from bot.leaks.canaries import STRANGER
from engine import RetrievalMode
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bot.capabilities.row import Capability
    from bot.leaks.askers import LeakAsker
    from bot.leaks.canaries import Bait, Canary

# Rows that are not tried, and why.
UNTRIED = {
    "forget-me": "It changes only what is stored of the person who asks.",
    "remember-me": "It changes only what is stored of the person who asks.",
}
# Fields that say which place, document or answer a request is about.
TARGETS = frozenset({"room", "channel", "document", "key", "answer", "share", "space"})
UNKNOWN = frozenset({"readers"})  # what somebody may not read does not exist for these
REPEATING = frozenset({"watch", "pin", "pin-answer"})  # what they keep, lists repeat to the asker
WORDS_FIELDS = frozenset({"text", "question", "name", "other", "into", "part", "search", "person", "file", "subject"})
NO_TARGET = frozenset({"zone", "working_dir", "type", "status", "place", "sort", "mode", "model", "output", "overview"})
MANAGING = frozenset({Who.CORRECTOR, Who.CHANNEL_MANAGER, Who.REVIEWER})


@dataclass(frozen=True, slots=True)
class Probe:
    """A request of a capability. `canary`: the planted text it is about; None: it is about the text for everybody."""

    row: Capability
    request: Any
    canary: Canary | None = None
    targets: bool = False

    def must_be_refused(self, asker: LeakAsker) -> bool:
        """Whether no answer may come at all, by the table of capabilities and by what was planted."""
        row = self.row
        if asker.is_shut_out or row.permission is None or row.who is Who.OWNER or row.who is Who.AUDITOR:
            return True
        needed = {row.permission, *(("manage",) if row.who is Who.REVIEWER else ())}
        if not needed.intersection(asker.permissions):
            return True
        if row.who in MANAGING and row.audited and asker.kind in {"member", "guest"}:
            return True
        if row.who is Who.MANAGER and asker.kind in {"member", "guest"}:
            return True
        guards_all = row.audited or row.name in UNKNOWN
        return guards_all and self.targets and not (self.canary and self.canary.is_adult)


def list_probes(row: Capability, bait: Bait, room: str, canaries: list[Canary]) -> Iterator[Probe]:
    """The probes of a row. `room`: where the asker reads the text for everybody. Raises InvalidQuestion.

    It is raised for a row that needs what no sample has.
    """
    wide = {"text": f"Who met {bait.name}?", "name": bait.name, "room": room, "key": f"{room}:file:{bait.code}"}
    yield Probe(row, _build(row, _values(wide), required_only=not row.audited))
    if row.name == "ask":
        yield from _list_questions(row, bait)
    if row.name in REPEATING or not {each.name for each in list_fields(row)} & (TARGETS | WORDS_FIELDS):
        return
    for canary in canaries:
        values = _values({"text": f"What does {canary.name} keep?", "name": canary.name, "room": canary.room})
        values |= {"document": canary.key, "key": canary.key, "answer": canary.answer, "share": canary.link}
        values["space"] = canary.space or canary.room
        if row.name == "readers":
            for field in ("document", "channel", "answer"):
                yield Probe(row, row.request(**{field: values[field]}), canary, targets=True)
            continue
        request = _build(row, values, required_only=row.name in {"ask", "search"})
        targets = bool({each.name for each in list_fields(row)} & TARGETS)
        yield Probe(row, request, canary, targets)
        if row.name in {"document", "forget", "summarize"}:
            field = "key" if row.name == "document" else "document"
            yield Probe(row, replace(request, **{field: canary.title}), canary, targets=True)


def _list_questions(row: Capability, bait: Bait) -> Iterator[Probe]:
    """A question in each mode, with each kind of result."""
    question = f"What did {bait.name} do in the boat house?"
    for mode in get_args(RetrievalMode):
        yield Probe(row, row.request(question, mode=mode, output="context"))
    for output in get_args(AskOutput):
        yield Probe(row, row.request(question, output=output))


def _values(known: Mapping[str, str]) -> dict[str, Any]:
    """A value for each field of a name that requests use."""
    text, name, room = known["text"], known["name"], known["room"]
    values: dict[str, Any] = dict.fromkeys(("text", "question", "description", "topic"), text)
    values |= dict.fromkeys(("name", "other", "into", "part", "search", "entity", "subject"), name)
    values |= dict.fromkeys(("room", "channel"), room)
    values |= {"document": known.get("key", ""), "key": known.get("key", ""), "person": STRANGER, "id": "none"}
    values |= {
        "answer": "none",
        "share": "none",
        "schedule": "daily 8:00",
        "values": (("style", "short"),),
        "helpful": True,
    }
    values |= {"address": "http://127.0.0.1:9/", "path": "/nowhere/leak", "paths": ("/nowhere/leak",)}
    values |= {"platform": "nowhere", "workspace": "nowhere", "workspaces": ("nowhere",), "token": "none"}
    return values | {"permissions": ("ask",), "requests_per_minute": 1, "limit": 50, "days": 30}


def _build(row: Capability, values: Mapping[str, Any], *, required_only: bool) -> Any:
    """The request of a row with these values: of all its fields, or of those without a default."""
    chosen: dict[str, Any] = {}
    if row.who is Who.OWNER:
        values = {"space": "nowhere", **values}
    for field in list_fields(row):
        if field.is_required and field.name not in values and field.name != "subject":
            raise InvalidQuestion(f"No sample has a value for the field “{field.name}”.")
        if field.name in values and (field.is_required or not (required_only or field.name in NO_TARGET)):
            chosen[field.name] = values[field.name]
    if row.who is Who.OWNER and any(field.name == "subject" for field in list_fields(row)):
        from bot.store import Subject  # noqa: PLC0415 - the only request of this kind

        chosen["subject"] = Subject(space="nowhere")
    return row.request(**chosen)
