"""After an erasure that is killed on the way, the store equals one that never received what was erased."""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bot.ingest.sync.retention import Retention
from bot.platform.models import Location, Message
from bot.store.postgres import PostgresStore
from bot.store.sqlite_file import SqliteStore
from engine.errors import NotFound
from engine.ingest.extract_step import ExtractStep
from engine.parts.documents import EngineDocuments
from tests.bot.ingest.erasure.test_histories import ToldHistory, perform
from tests.support.bot_fixture import BotFixture, open_bot
from tests.support.databases import find_database
from tests.support.engine_fixture import canonical_export, find_files_containing, is_clean
from tests.support.fake_platform import FakePlatform

STEPS = 14
# Which messages are one conversation is decided when they come, and stays; keys are named after its first message.
GROUPING = ("document", "chunk", "key", "ordinal", "pieces", "tokens")


class Killed(BaseException):
    """The process ends here."""


class Killer:
    """Counts writes once it is told to, and kills before one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = -1
        methods = ((EngineDocuments, "amend"), (EngineDocuments, "forget"), (EngineDocuments, "retitle"))
        for owner, name in ((SqliteStore, "write"), (PostgresStore, "write"), *methods):
            monkeypatch.setattr(owner, name, self._guard(getattr(owner, name)))

    def _guard(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def guarded(*args: Any, **kwargs: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise Killed
            return await method(*args, **kwargs)

        return guarded


class UnseenHistory(ToldHistory):
    """The same history, of which the bot never receives what has one of these words."""

    unseen: frozenset[str] = frozenset()

    async def say(self, place: Location, who: str, text: str, word: str) -> Message:
        if word not in self.unseen:
            return await super().say(place, who, text, word)
        return self.bot.platform.add_message(place, who, text)

    async def share(self, place: Location, who: str, text: str, word: str) -> None:
        if word not in self.unseen:
            await super().share(place, who, text, word)
            return
        self.bot.share(place, self.bot.platform.add_file(f"{word}.txt", text.encode()), author=who)


async def live(history: ToldHistory) -> None:
    """All steps; then every conversation is closed and read."""
    await history.begin()
    for number in range(STEPS):
        await history.step(number)
    bot = history.bot
    await Retention(bot.context, bot.ingest_service._documents).close_idle(bot.clock.now() + timedelta(days=1))
    await bot.engine.wait_until_indexed()


@dataclass(frozen=True)
class Export:
    """The canonical export: the documents by the messages that they hold, and what is known of names in all of them."""

    documents: dict[frozenset[str], list[str]]
    names: list[str]


async def export_all(bot: BotFixture) -> Export:
    """The canonical export without keys.

    The title of one message tells whether it was answered, which is a matter of grouping.
    """
    records = [json.loads(line) for line in await canonical_export(bot.engine)]
    chunks = {record["key"]: record["document"] for record in records if record["kind"] == "chunk"}
    held, parts, names = defaultdict[str, set[str]](set), defaultdict[str, list[str]](list), list[str]()
    for record in records:
        document = record.get("document") or chunks.get(record.get("chunk", ""), "")
        if record["kind"] == "passage":
            held[document].add(record["key"])
        elif record["kind"] == "document":
            document = record["key"]
        text = json.dumps({name: value for name, value in record.items() if name not in GROUPING}, sort_keys=True)
        (parts[document] if document else names).append(text)
    alone = {document for document, messages in held.items() if len(messages) == 1}
    found = {
        frozenset(held[document]): sorted(_hide_title(line) if document in alone else line for line in lines)
        for document, lines in parts.items()
    }
    return Export(found, sorted(names))


def _hide_title(line: str) -> str:
    return re.sub(r'"title": "[^"]*"', "", line)


def list_rows_containing(address: str, words: set[str]) -> list[tuple[str, str]]:
    """The tables of a database with a row in which one of the words stands."""
    with psycopg.connect(address) as connection:
        tables = connection.execute(
            "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        return [
            (table, word)
            for (table,) in tables
            for word in words
            if connection.execute(f"SELECT 1 FROM {table} r WHERE r::text LIKE %s LIMIT 1", (f"%{word}%",)).fetchall()
        ]


async def erase(bot: BotFixture, who: str, place: Location, request: Any) -> None:
    """What a start completes, then the request, which is still in the queue."""
    await bot.ingest_service.complete_erasures()
    with suppress(NotFound):  # completed by the start
        await perform(bot, who, place, request)


@pytest.mark.share(250)
@pytest.mark.parametrize("seed", range(500))
async def test_what_is_left_is_as_if_the_erased_had_never_come(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read_none(_: ExtractStep, found: Any) -> Any:
        return found

    # Whether a message repeats a template, so that rules read it, is decided by what is stored at that time.
    monkeypatch.setattr(ExtractStep, "_read_notices", read_none)
    platform, killer, home = FakePlatform(), Killer(monkeypatch), tmp_path / "home"
    async with open_bot(home, platform) as bot:
        told = ToldHistory(bot, random.Random(seed))
        await live(told)
        who, place, request, words = told.choose_erasure()
        killer.left = random.Random(seed).randrange(1, 24)
        with suppress(Killed):
            await erase(bot, who, place, request)
        killer.left = -1
    async with open_bot(home, platform) as bot:
        await bot.store.answers.redact_pending()
        await erase(bot, who, place, request)
        assert len(await bot.store.receipts.list_newest()) == 1
        await bot.correct_answers()
        await bot.engine.wait_until_indexed()
        await bot.engine.maintenance.compact()
        await bot.store.compact()
        left = await export_all(bot)
        assert not left.documents or await is_clean(bot.engine)
    assert {word: found for word in words if (found := find_files_containing(home, word))} == {}
    if address := find_database(home):
        assert list_rows_containing(address, words) == []
    assert [reply.text for reply in platform.replies if any(word in reply.text for word in words)] == []
    async with open_bot(tmp_path / "other") as bot:
        other = UnseenHistory(bot, random.Random(seed))
        other.unseen = frozenset(words)
        await live(other)
        unseen = await export_all(bot)
    same = left.documents.keys() & unseen.documents.keys()
    assert {key: left.documents[key] for key in same} == {key: unseen.documents[key] for key in same}
    assert set().union(*left.documents) == set().union(*unseen.documents)
    if left.documents.keys() == unseen.documents.keys():
        assert left == unseen
