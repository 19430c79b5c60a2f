"""A person sees what is stored about them, has it forgotten, and is read again."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from bot.capabilities.erasure.erasing import measure
from bot.capabilities.maintenance.requests import ChannelCount, MyData
from bot.capabilities.results import Completed, Erased, ExportLine
from bot.errors import NotPermitted
from bot.permissions.audience import EMPTY_SET
from engine import Scope
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.requests import ExportMyData, ForgetMe, GetMyData, RememberMe
    from bot.capabilities.results import OperationResult
    from bot.store import BotStore, FileRecord, MessageRecord, Subject


async def forget_me(deps: Deps, caller: Caller, request: ForgetMe) -> AsyncGenerator[OperationResult]:
    """Forget a person, or only say what would go. Raises NotPermitted for a space, which has written nothing."""
    subject = _check_person(caller)
    erasure = await measure(deps, caller, lambda planner: planner.plan_person(subject))
    if request.dry_run:
        yield erasure.rehearse()
        return
    async with erasure.completing("forget-me", {}):
        await (await deps.parts.open()).ingest.forget_person(subject.platform, subject.workspace, subject.person)
    told = "Done. What you wrote, shared and asked is forgotten, and your messages are not read anymore."
    yield Erased(told, await erasure.give_receipt("forget-me", {}))


async def remember_me(deps: Deps, caller: Caller, _request: RememberMe) -> AsyncGenerator[OperationResult]:
    """Read a person again from now on. Raises NotPermitted for a space."""
    subject, parts = _check_person(caller), await deps.parts.open()
    for workspace in {subject.workspace, ""}:  # direct messages may belong to no workspace
        since = caller.time or deps.clock.now()
        await parts.store.opt_outs.opt_in(subject.platform, workspace, subject.person, since)
    yield Completed("What you write from now on is read again. What was forgotten stays forgotten.")


async def my_data(deps: Deps, caller: Caller, _request: GetMyData) -> AsyncGenerator[OperationResult]:
    """Yield how much is stored about a person. Raises NotPermitted for a space."""
    subject, store = _check_person(caller), (await deps.parts.open()).store
    messages = Counter(message.room for message in await _list_messages(store, subject))
    readable = await deps.engine.documents.count_by_room(caller.scope) if messages else {}
    channels = [
        ChannelCount(room, (await store.channels.get_name(room) or "") if room in readable else "", count)
        for room, count in messages.most_common()
    ]
    records = await _list_records(store, subject)
    out = await store.opt_outs.is_opted_out(subject.platform, subject.workspace, subject.person)
    yield MyData(
        tuple(channels),
        len(await _list_files(store, subject)),
        tuple(sorted(Counter(record["kind"] for record in records).items())),
        tuple(sorted({record["topic"] for record in records if record["kind"] == "expert"})),
        is_read=not out,
    )


async def export_my_data(deps: Deps, caller: Caller, _request: ExportMyData) -> AsyncGenerator[OperationResult]:
    """Yield what is stored about a person, line by line. Raises NotPermitted for a space."""
    subject, store = _check_person(caller), (await deps.parts.open()).store
    messages = sorted(await _list_messages(store, subject), key=lambda each: (each.document, each.time))
    texts, document = dict[str, str](), ""
    for message in messages:
        if message.document != document:
            document, texts = message.document, await _load_texts(deps, message)
        record = {"kind": "message", "channel": message.room, "id": message.id, "time": message.time.isoformat()}
        yield ExportLine(_dump({**record, "text": texts.get(message.id, "")}))
    for file in await _list_files(store, subject):
        record = {"kind": "file", "channel": file.room, "id": file.document, "time": file.time.isoformat()}
        yield ExportLine(_dump(record))
    for record in await _list_records(store, subject):
        yield ExportLine(_dump(record))


async def _load_texts(deps: Deps, message: MessageRecord) -> dict[str, str]:
    """The texts of the messages of a conversation; none of a message that is not indexed."""
    if not message.document:
        return {}
    try:
        found = await deps.engine.documents.get(message.document, Scope(EMPTY_SET, frozenset({message.room})))
    except NotFound:
        return {}
    return {passage.key: passage.text for passage in found.passages}


async def _list_messages(store: BotStore, subject: Subject) -> list[MessageRecord]:
    found = [await store.messages.list_by_author(*place) for place in _list_places(subject)]
    return [message for messages in found for message in messages]


async def _list_files(store: BotStore, subject: Subject) -> list[FileRecord]:
    found = [await store.files.list_by_author(*place) for place in _list_places(subject)]
    return [file for files in found for file in files]


async def _list_records(store: BotStore, subject: Subject) -> list[dict[str, Any]]:
    found = [await store.personal.list(*place) for place in _list_places(subject)]
    return [record for records in found for record in records]


def _list_places(subject: Subject) -> list[tuple[str, str, str]]:
    """A person in their workspace, and where direct messages belong to none."""
    return [(subject.platform, workspace, subject.person) for workspace in dict.fromkeys((subject.workspace, ""))]


def _dump(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)


def _check_person(caller: Caller) -> Subject:
    if caller.kind != "person":
        raise NotPermitted("This is for people; the owner of the data forgets documents.")
    return caller.subject
