"""Whatever was said, shared and asked before: the receipt says what the rehearsal said, and that is gone."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.capabilities.caller import Caller
from bot.capabilities.erasure.requests import Forget, ForgetMe, ReceiptChecked, VerifyReceipt
from bot.capabilities.run import run, run_for_person
from bot.platform.models import Location, Message
from bot.store import Subject
from engine import Scope
from tests.support.bot_fixture import BotFixture, open_bot
from tests.support.engine_fixture import find_files_containing

PEOPLE = ("ada", "bob", "cid")
NAMES = ("Mirabella", "Ottokara", "Philippa", "Rolandine")  # too long to be in a hash by chance
# Of a redacted answer, sentences that rest on other sources may stay.
TEXTS = "SELECT id FROM answer WHERE state NOT IN ('started', 'redacted') AND (text <> '' OR question <> '')"


@dataclass
class ToldHistory:
    """Says, shares and asks at random; `words`: one of each message and file, which stands nowhere else."""

    bot: BotFixture
    choose: random.Random
    places: list[Location] = field(default_factory=list)
    messages: list[tuple[Message, str]] = field(default_factory=list)
    files: list[tuple[str, str, str]] = field(default_factory=list)

    async def begin(self) -> None:
        self.places = [await self.bot.join("C1", *PEOPLE), await self.bot.join("C2", "ada", "bob", kind="closed")]

    async def step(self, number: int) -> None:
        place, word = self.choose.choice(self.places), f"zq{number}x{self.choose.randrange(10**6)}"
        who = self.choose.choice(PEOPLE if place == self.places[0] else PEOPLE[:2])
        text = f"{self.choose.choice(NAMES)} met {self.choose.choice(NAMES)} at the {word}."
        match self.choose.choices(("say", "reply", "share", "ask"), (5, 2, 1, 3))[0]:
            case "share":
                await self.share(place, who, text, word)
            case "ask" if self.messages:
                await self.bot.engine.wait_until_indexed()
                await self.bot.ask(place, who, f"Whom did {self.choose.choice(NAMES)} meet?")
            case "reply" if roots := [each for each, _ in self.messages if each.location.channel == place.channel]:
                thread = Location(place.platform, place.workspace, place.channel, self.choose.choice(roots).id)
                self.messages.append((await self.say(thread, who, text, word), word))
            case _:
                self.messages.append((await self.say(place, who, text, word), word))

    async def say(self, place: Location, who: str, text: str, word: str) -> Message:
        """Post a message; `word`: the one that stands nowhere else."""
        del word
        return await self.bot.post(place, who, text)

    async def share(self, place: Location, who: str, text: str, word: str) -> None:
        """Share a file."""
        upload = self.bot.platform.add_file(f"{word}.txt", text.encode())
        message = await self.bot.receive(self.bot.share(place, upload, author=who))
        await self.bot.ingest_service.files.ingest(message, quiet=True)
        files = await self.bot.store.files.list_by_messages(place.room, [message.id])
        self.files += [(file.document, who, word) for file in files]

    def choose_erasure(self) -> tuple[str, Location, Any, set[str]]:
        """Somebody, where they ask, what they have erased, and the words that then are gone."""
        kinds = ["person", *["message"] * bool(self.messages), *["file"] * bool(self.files)]
        match self.choose.choice(kinds):
            case "message":
                message, word = self.choose.choice(self.messages)
                link = self.bot.platform.message_link(message.location, message.id)
                return message.author, message.location.without_thread, Forget(link), {word}
            case "file":
                key, who, word = self.choose.choice(self.files)
                return who, Location.from_room(key.partition(":file:")[0]), Forget(key), {word}
        who = self.choose.choice(PEOPLE)
        words = {word for message, word in self.messages if message.author == who}
        return who, self.places[0], ForgetMe(), words | {word for _, author, word in self.files if author == who}


async def perform(bot: BotFixture, who: str, place: Location, request: Any) -> Any:
    scope = await bot.context.audience.scope_for_person(place, who)
    caller = Caller("person", Subject("slack", "T1", who), scope, place, door="chat")
    return [result async for result in run_for_person(bot.deps, caller, request)][-1]


async def count(bot: BotFixture, places: list[Location]) -> tuple[int, int, int]:
    """Documents, passages, and answers with a text."""
    scope = Scope(frozenset(), frozenset(place.room for place in places))
    documents = await bot.engine.documents.list(scope)
    answers = await bot.store.answers._database.fetch_all(TEXTS)
    return len(documents), sum(document.passages for document in documents), len(answers)


@pytest.mark.share(500)
@pytest.mark.parametrize("seed", range(1000))
async def test_a_receipt_says_what_the_rehearsal_said_and_that_is_gone(tmp_path: Path, seed: int) -> None:
    async with open_bot(tmp_path / "home") as bot:
        told = ToldHistory(bot, random.Random(seed))
        await told.begin()
        for number in range(14):
            await told.step(number)
        await bot.engine.wait_until_indexed()
        who, place, request, words = told.choose_erasure()
        planner = bot.ingest_service.erasures.planner
        rehearsed = await perform(bot, who, place, type(request)(**{**_fields(request), "dry_run": True}))
        plan = await planner.plan_person(Subject("slack", "T1", who)) if isinstance(request, ForgetMe) else None
        whole = (await bot.ingest_service.erasures.measure(plan)).counts if plan else rehearsed.counts
        before = await count(bot, told.places)
        done = await perform(bot, who, place, request)
        gone = tuple(a - b for a, b in zip(before, await count(bot, told.places), strict=True))
        assert done.receipt["counts"] == rehearsed.counts
        assert (whole["documents"], whole["passages"]) == gone[:2]
        assert not plan or whole["answers"] == gone[2]
        text = json.dumps(done.receipt).casefold()
        assert not [word for word in {*words, *map(str.casefold, NAMES)} if word in text]
        checked = [each async for each in run(bot.deps, VerifyReceipt(json.dumps(done.receipt)))][-1]
        assert isinstance(checked, ReceiptChecked)
        assert not any(checked.remaining.values())
        await bot.engine.wait_until_indexed()
        await bot.engine.maintenance.compact()
        await bot.store.compact()
        assert {word: found for word in words if (found := find_files_containing(tmp_path / "home", word))} == {}


def _fields(request: Any) -> dict[str, Any]:
    return {"document": request.document} if isinstance(request, Forget) else {}
