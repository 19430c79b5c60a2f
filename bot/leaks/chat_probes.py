"""Ask in the chat: questions, commands, what is completed while somebody types, their home page and their digest."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING

from bot.answers.control.buttons import BUTTON_ACTIONS
from bot.commands.table import list_commands
from bot.errors import PlatformError
from bot.leaks.canaries import STRANGER, may_read
from bot.leaks.planting import add_own_answer
from bot.leaks.report import Leak
from bot.leaks.samples import REPEATING
from bot.platform.events import ButtonPressed, CommandInvoked, QuestionAsked
from bot.platform.models import Channel, Location
from bot.platform.traits import PlatformTraits
from engine import Scope
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator, Mapping, Sequence
    from datetime import datetime

    from bot.leaks.askers import LeakAsker
    from bot.leaks.canaries import Canary
    from bot.leaks.probing import PlantedStore
    from bot.leaks.stand_in import StandInPlatform
    from bot.platform.events import PlatformEvent

UNTRIED_COMMANDS = {"forget-me", "remember-me", "learn", "backfill"}
DELETE = "delete"
# Words with which commands change what only managers and experts may. {name}, {friend}: of the text for everybody.
CHANGING: Mapping[str, Sequence[str]] = {
    "connect": ("http://127.0.0.1:9/",),
    "correct": ('describe "{name}" "A sailor."', 'hide "{friend}"', 'merge "{friend}" "{name}"'),
    "digest": ("weekly monday 9:00",),
    "expert": ("add @{person} boats",),
    "pin": ('"Who met {name}?" "Nobody."',),
    "settings": ("style short",),
}
FILTERS = ("in", "from")
MODES = ("", "local", "global", "hybrid", "naive")


class ChatProbes:
    """What a person sees in the chat: in the channel of the text for everybody, and in direct messages."""

    def __init__(self, store: PlantedStore, asker: LeakAsker, hall: Location) -> None:
        self._store = store
        self._asker = asker
        self._hall = hall
        self._direct = Location(self._hall.platform, self._hall.workspace, f"direct-{asker.subject.person}")
        self._platform: StandInPlatform = store.bot.context.platforms[self._hall.platform]  # type: ignore[assignment]
        direct = Channel(self._direct, "", "direct", frozenset({asker.subject.person}))
        self._platform.channels[self._direct.room] = direct

    @property
    def _hidden(self) -> list[Canary]:
        return [canary for canary in self._store.canaries if not may_read(self._asker, canary)]

    async def run(self) -> None:
        """Ask, command and type."""
        for text, private, place, mode in self._list_questions():
            event = QuestionAsked(token_hex(4), place, self._asker.subject.person, text, self._now, private=private)
            await self._process(f"chat: question {mode}".strip(), text, event)
        for name, command in list_commands(PlatformTraits()).items():
            if name in UNTRIED_COMMANDS:
                self._store.report.untried[f"chat: {name}"] = "It changes only what is read of the person or the place."
                continue
            for words in self._list_words(name) if command.usage else ("",):
                await self._process(f"chat: {name}", words, self._command(name, words, self._hall))
                await self._process(f"chat: {name}, private", words, self._command(name, words, self._direct))
            await self._change(name)
        await self._press()
        await self._complete()

    async def _change(self, name: str) -> None:
        """Try to change with a command what only managers and experts may."""
        for pattern in CHANGING.get(name, ()):
            words = pattern.format(name=self._store.bait.name, friend=self._store.bait.friend, person=STRANGER)
            before = await self._read_state()
            await self._process(f"chat: {name}", words, self._command(name, words, self._hall))
            if self._asker.kind != "manager" and await self._read_state() != before:
                self._store.report.add(Leak(f"chat: {name}", self._asker.name, "granted"))

    async def _read_state(self) -> str:
        """What of the channel only managers and experts may change."""
        store, room, place = self._store.bot.store, self._hall.room, (self._hall.platform, self._hall.workspace)
        corrections = self._store.bot.context.engine_context.engine.corrections
        space = await self._store.bot.context.audience.get_home_space(self._hall)
        found = (
            await corrections.list(Scope.of(space)),
            await store.channel_settings.get(room),
            await store.digests.get(room),
            await store.experts.list_in_workspace(*place),
            await store.sources.list_in_room(room),
            await store.verified_answers.list_in_room(room),
        )
        return repr(found)

    async def _press(self) -> None:
        """Press the buttons of answers that rest on what is hidden, as somebody who forges their ids."""
        for canary in self._hidden:
            if canary.channel is None or canary.is_adult:
                continue
            own = await add_own_answer(self._store.bot, canary, self._hall, self._asker.subject.person)
            for answer in (own, canary.answer, canary.moved_answer):
                for action in sorted(BUTTON_ACTIONS, key=_is_deleting):
                    value = f"{answer}:{STRANGER}" if action == "ask-expert" else answer
                    press = ButtonPressed(token_hex(4), self._hall, self._asker.subject.person, action, value, "h")
                    if not (action == DELETE and self._asker.kind == "manager"):  # who may delete what they know of
                        await self._process(f"chat: button {action}", value, press)
                await self._check_kept(answer, canary)

    async def _check_kept(self, answer: str, canary: Canary) -> None:
        """Record that somebody deleted an answer of others."""
        surface = f"chat: button {DELETE}"
        if await self._store.bot.store.answers.get(answer) is None and canary.answer == answer:
            self._store.report.add(Leak(surface, self._asker.name, "granted", canary.kind))

    @property
    def _now(self) -> datetime:
        return self._store.bot.clock.now()

    def _list_questions(self) -> Iterator[tuple[str, bool, Location, str]]:
        bait = self._store.bait.name
        for mode in MODES:
            yield f"What did {bait} do in the boat house?", True, self._direct, mode
        if not self._asker.is_shut_out:
            yield f"What did {bait} do in the boat house?", False, self._hall, "in a channel"
        for canary in self._hidden:
            yield f"What does {canary.name} keep?", True, self._direct, ""

    def _list_words(self, command: str) -> Iterator[str]:
        yield ""
        yield "list"
        yield f'"{self._store.bait.name}"'
        for canary in () if command in REPEATING else self._hidden:
            yield f'"{canary.name}"'
            yield canary.title

    def _command(self, name: str, words: str, place: Location) -> CommandInvoked:
        person = self._asker.subject.person
        return CommandInvoked(token_hex(4), place, person, name, words, handle="h", time=self._now)

    async def _process(self, surface: str, asked: str, event: PlatformEvent) -> None:
        self._platform.take_shown()
        try:
            await self._store.bot.dispatcher.process(event)
        except EngineError as error:
            self._platform.shown.append(f"{error} {error.hint}")
        self._store.scan(surface, self._asker, asked, self._platform.take_shown())

    async def _complete(self) -> None:
        bot, person = self._store.bot, self._asker.subject.person
        typed = ["", self._store.bait.name[:3], *(canary.name[:3] for canary in self._hidden)]
        for start in typed:
            await self._scan_found("chat: completion of names", start, bot.suggest_names(person, self._direct, start))
        starts = ["", *(canary.channel.name[:3] for canary in self._hidden if canary.channel)]
        for name in FILTERS:
            for start in starts:
                found = bot.suggest_filter(person, self._direct, name, start)
                await self._scan_found("chat: completion of filters", start, found)
        home = bot.build_home_card(self._hall.platform, self._hall.workspace, person)
        await self._scan_found("chat: home page", "", home)

    async def _scan_found(self, surface: str, asked: str, found: Awaitable[object]) -> None:
        try:
            reply = repr(await found)
        except PlatformError as error:
            reply = str(error)
        self._store.scan(surface, self._asker, asked, reply)


def _is_deleting(action: str) -> bool:
    return action == DELETE
