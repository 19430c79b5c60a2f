"""Digests, verified answers, pages, files and imports: the bot is killed before any write or call, and starts again.

What it knows and shows in the end is the same. `--thorough` kills it at every moment, the suite at a share of them.
"""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from adapters.slack.export import open_export
from bot.answers.digests import DigestWriter
from bot.answers.review.verification import AnswerVerifier
from bot.capabilities.caller import Caller
from bot.capabilities.erasure.requests import ForgetMe
from bot.capabilities.run import run_for_person
from bot.ingest.erasure.receipt import check_signature
from bot.ingest.service import IngestService
from bot.platform.events import MessageReceived, WorkspaceLeft
from bot.platform.export_readers import ExportOptions
from bot.platform.models import Location, Person
from bot.store import Subject
from bot.store.access.audit_log import AuditFilter
from bot.store.review.experts import Expert
from bot.store.schedules.digests import Digest
from bot.store.sqlite_file import SqliteStore
from engine.models import Scope
from engine.parts.documents import EngineDocuments
from tests.support.bot_fixture import BotFixture, open_bot
from tests.support.builders import ROOF
from tests.support.clock import ManualClock
from tests.support.exports import SlackExportFiles, slack_message, ts_at
from tests.support.fake_platform import START, FakePlatform
from tests.support.web_server import HTML, WebServer, open_web_server

ATTIC = Location("slack", "T1", "ATTIC")
MAX_POSTS = 3  # the introduction of the bot, and the heading of the digest twice
SHARE = 5  # every fifth moment is tried by the suite
ASKED = "When do the Tiles come?"
PAGE = "<html><head><title>Ferry times</title></head><body><p>The ferry leaves at noon.</p></body></html>"


class Killed(BaseException):
    """The process ends here."""


class Killer:
    """Counts the moments of the whole test, and kills at one of them."""

    def __init__(self) -> None:
        self.at, self.moments = -1, 0

    def count(self) -> None:
        self.moments += 1
        if self.moments - 1 == self.at:
            raise Killed


class MortalPlatform(FakePlatform):
    """A platform before each call of which the bot can be killed."""

    def __init__(self, killer: Killer) -> None:
        super().__init__()
        self._killer = killer

    def record_call(self, call: str) -> None:
        self._killer.count()
        super().record_call(call)


class Describer:
    """Gives every picture the same description."""

    async def describe(self, jpeg: bytes) -> str:
        assert jpeg
        return "A slate roof with a hole."


@pytest.fixture
def killer(monkeypatch: pytest.MonkeyPatch) -> Killer:
    killer = Killer()

    def guard(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def guarded(*args: Any, **kwargs: Any) -> Any:
            killer.count()
            return await method(*args, **kwargs)

        return guarded

    for owner, names in ((SqliteStore, ("write",)), (EngineDocuments, ("add", "amend", "forget"))):
        for name in names:
            monkeypatch.setattr(owner, name, guard(getattr(owner, name)))
    return killer


@dataclass(frozen=True, slots=True)
class Story:
    """What happens once (`prepare`), what is repeated after a kill (`act`), and what can be seen then (`see`)."""

    prepare: Callable[[BotFixture, WebServer], Awaitable[object]]
    act: Callable[[BotFixture, WebServer], Awaitable[object]]
    see: Callable[[BotFixture], Awaitable[object]]


async def prepare_digest(bot: BotFixture, _: WebServer) -> None:
    await bot.post_indexed(ROOF, "ada", "We decided that the Tiles come on Monday.")
    await bot.store.digests.save(
        Digest(ROOF, "ada", False, "daily 09:00 UTC", START - timedelta(1), START + timedelta(hours=1))
    )


async def write_digest(bot: BotFixture, _: WebServer) -> None:
    later = ManualClock(START + timedelta(hours=2))
    await DigestWriter(replace(bot.context, clock=later), bot.answer_service).write_due()


async def see_digest(bot: BotFixture) -> object:
    # Killed between the call that posts the heading and the write that records it, the bot posts it once more.
    posted = {card.text for _, card in bot.platform.posts if "Digest" in card.text}
    assert len(bot.platform.posts) <= MAX_POSTS
    answers = [(reply.text, bool(reply.closing)) for reply in bot.platform.replies]
    return posted, answers, await bot.store.digests.list_due(START + timedelta(hours=3))


async def ask(bot: BotFixture, _: WebServer) -> None:
    bot.platform.people["max"] = Person("max", "Max", is_manager=True)
    await bot.post_indexed(ROOF, "ada", "The Tiles come on Monday.")
    reply = await bot.ask(ROOF, "bob", ASKED)
    thread = replace(ROOF, thread=reply.target.message)
    bot.platform.add_message(thread, "ada", "On Tuesday, I was told.")


async def verify_answer(bot: BotFixture, _: WebServer) -> None:
    stored = await bot.store.answers.get(bot.platform.replies[0].target.answer)
    assert stored is not None
    await AnswerVerifier(bot.context, START).verify(stored, "max")


async def take_reply(bot: BotFixture, _: WebServer) -> None:
    await AnswerVerifier(bot.context, START).take_reply(bot.platform.messages[-1], "max")


async def see_verified(bot: BotFixture) -> object:
    found = await bot.store.verified_answers.list_in_room(ROOF.room)
    shown = (await bot.ask(ROOF, "bob", ASKED)).text
    assert "Verified by Max" in shown
    return [
        (answer.id, answer.question, answer.text, answer.keys, answer.sources, answer.rooms) for answer in found
    ], shown


async def post_link(bot: BotFixture, web: WebServer) -> None:
    web.pages["/ferry"] = HTML, PAGE
    await bot.save_settings(ROOF, links=True)
    bot.platform.add_message(ROOF, "ada", f"See {web.url('/ferry')} .")


async def read_link(bot: BotFixture, web: WebServer) -> None:
    bot.ingest_service.links.fetcher = web.fetcher()
    message = bot.platform.messages[-1]
    await bot.ingest_service.handle(MessageReceived(message, addressed=False))
    await bot.ingest_service.links.ingest(message)


async def post_picture(bot: BotFixture, _: WebServer) -> None:
    file = BytesIO()
    Image.new("RGB", (40, 30), "gray").save(file, "PNG")
    bot.share(ROOF, bot.platform.add_file("picture.png", file.getvalue(), kind="image/png"))


async def read_picture(bot: BotFixture, _: WebServer) -> None:
    message = bot.platform.messages[-1]
    await bot.ingest_service.handle(MessageReceived(message, addressed=False))
    await bot.ingest_service.files.ingest_and_confirm(message)


async def post_archive(bot: BotFixture, _: WebServer) -> None:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("plans/roof.txt", "The tiles come on Monday.")
        archive.writestr("plans/vault.txt", "The key is under the mat.")
        archive.writestr("plans/sound.mp3", b"ID3" + bytes(64))
    bot.share(ROOF, bot.platform.add_file("plans.zip", file.getvalue(), kind="application/zip"))


async def write_export(bot: BotFixture, _: WebServer) -> None:
    files = SlackExportFiles()
    talk = [slack_message(f"U{1 + at % 2}", at, f"Beam {at} is oak.", thread_ts=ts_at(at - at % 3)) for at in range(9)]
    files.add_channel("channels", "ATTIC", "attic", talk)
    files.write_zip(export_path(bot))


def export_path(bot: BotFixture) -> Path:
    return bot.context.engine_context.upload_dir.parent / "export.zip"


async def import_export(bot: BotFixture, _: WebServer) -> None:
    source = open_export(export_path(bot), ExportOptions(), clock=bot.context.clock)
    service = IngestService(replace(bot.context, platforms={}))
    async with service.open_import(source) as running:
        async for channel in running.run():
            assert channel.location == ATTIC


async def see_attic(bot: BotFixture) -> object:
    known = await bot.store.messages.list_by_ids(ATTIC.room, [ts_at(at) for at in range(9)])
    return (
        await bot.document_texts(ATTIC),
        await bot.spaces(ATTIC),
        sorted((message.id, message.is_applied) for message in known),
    )


async def see_documents(bot: BotFixture) -> object:
    files = [(file.document, file.is_applied) for file in await bot.store.files.list_by_workspace("slack", "T1")]
    signs = {message: shown[-1:] for message, shown in bot.platform.reactions.items()}
    unread = await bot.store.unread_files.list_newest(Scope(frozenset(), frozenset({ROOF.room})))
    return await bot.document_texts(ROOF), files, signs, [(each.name, each.reason) for each in unread]


async def say_and_ask(bot: BotFixture, _: WebServer) -> None:
    bot.ingest_service.erasures.load_key()
    await bot.post_indexed(ROOF, "ada", "The Tiles come on Monday.")
    await bot.post_indexed(ROOF, "bob", "The Kiln is cold.")
    await bot.ask(ROOF, "bob", ASKED)


async def forget_ada(bot: BotFixture, _: WebServer) -> None:
    """What the start completes, and then the request again, as it is still in the queue."""
    await bot.ingest_service.complete_erasures()
    caller = Caller("person", Subject("slack", "T1", "ada"), Scope.of("slack:T1:open"), ROOF, door="chat")
    async for _result in run_for_person(bot.deps, caller, ForgetMe()):
        pass


async def prepare_plans(bot: BotFixture, web: WebServer) -> None:
    """What is stored of Ada besides her messages."""
    await say_and_ask(bot, web)
    await bot.store.experts.add(Expert(ROOF, "ada", "tiles"))
    await bot.store.reports.schedule(Location("slack", "T1", ""), "ada", bot.clock.now())


async def forget_ada_once(bot: BotFixture, web: WebServer) -> None:
    """What the start completes; the request comes again only if it was never begun."""
    await bot.ingest_service.complete_erasures()
    if not await bot.store.receipts.list_newest():
        await forget_ada(bot, web)


async def see_records(bot: BotFixture) -> object:
    kinds = {record["kind"] for record in await bot.store.personal.list("slack", "T1", "ada")}
    return kinds - {"audit_entry"}, await see_receipts(bot)


async def see_receipts(bot: BotFixture) -> object:
    assert await bot.store.receipts.list_abandoned() == []
    found = [json.loads(each.document) for each in await bot.store.receipts.list_newest()]
    assert len(found) == 1, "one erasure, one receipt"
    check_signature(found[0], bot.ingest_service.erasures.load_key().public_key)
    assert not await bot.ingest_service.erasures.find_remaining(found[0])
    named = {kind: len(names) for kind, names in found[0]["erased"].items()}
    return await bot.document_texts(ROOF), found[0]["counts"], named


async def leave_town(bot: BotFixture, _: WebServer) -> None:
    """What the start completes, and then the event again, as it is still in the queue."""
    await bot.ingest_service.complete_erasures()
    await bot.ingest_service.handle(WorkspaceLeft("slack", "T1", "removed", purge=True))


async def see_departure(bot: BotFixture) -> object:
    entries = await bot.store.audit.list(AuditFilter(action="forget-workspace"))
    assert [entry.state for entry in entries] == ["done"], "one erasure, one entry"
    return await see_receipts(bot)


STORIES = {
    "uninstall": Story(say_and_ask, leave_town, see_departure),
    "erasure": Story(say_and_ask, forget_ada, see_receipts),
    "erasure that is not asked again": Story(prepare_plans, forget_ada_once, see_records),
    "digest": Story(prepare_digest, write_digest, see_digest),
    "verified answer": Story(ask, verify_answer, see_verified),
    "reply taken as answer": Story(ask, take_reply, see_verified),
    "linked page": Story(post_link, read_link, see_documents),
    "picture": Story(post_picture, read_picture, see_documents),
    "archive": Story(post_archive, read_picture, see_documents),
    "import": Story(write_export, import_export, see_attic),
}


def start(home: Path, platform: FakePlatform) -> AbstractAsyncContextManager[BotFixture]:
    return open_bot(home, platform, describer=Describer())


async def live(home: Path, story: Story, killer: Killer, web: WebServer, at: int) -> tuple[int, object]:
    """The number of moments, and what is seen after a kill at one of them and a restart."""
    platform = MortalPlatform(killer)
    async with start(home, platform) as bot:
        await bot.join("ROOF", "ada", "bob")
        await story.prepare(bot, web)
        first = killer.moments
        killer.at = first + at if at >= 0 else -1
        with suppress(Killed):
            await story.act(bot, web)
        moments, killer.at = killer.moments - first, -1
    async with start(home, platform) as bot:
        await story.act(bot, web)
        return moments, await story.see(bot)


@pytest.mark.share(5)
@pytest.mark.parametrize("name", STORIES)
async def test_it_ends_the_same_wherever_the_bot_is_killed(
    name: str, tmp_path: Path, killer: Killer, *, thorough: bool
) -> None:
    async with open_web_server() as web:
        moments, expected = await live(tmp_path / "whole", STORIES[name], killer, web, -1)
        assert moments > 1
        for at in range(0, moments, 1 if thorough else SHARE):
            _, seen = await live(tmp_path / str(at), STORIES[name], killer, web, at)
            assert seen == expected, f"killed at moment {at} of {moments}"
            await asyncio.sleep(0)
