"""What the bot does by itself: it tells of contradictions, watches and the week, and corrects posted answers."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import timedelta
from secrets import token_hex
from typing import TYPE_CHECKING

from bot.answers.contradictions.notifier import ContradictionNotifier
from bot.answers.renewal.superseded import SupersessionFinder
from bot.answers.watches.notifier import WatchNotifier
from bot.capabilities.caller import Caller
from bot.capabilities.management.requests import GetAnswerActions
from bot.capabilities.requests import SetDescription
from bot.capabilities.run import run_for_person
from bot.commands.management.report import ReportSender
from bot.leaks.canaries import STRANGER, Canary, may_read
from bot.leaks.planting import open_channel, say
from bot.leaks.report import Leak
from bot.permissions.audience import EMPTY_SCOPE
from bot.platform.events import ButtonPressed, QuestionAsked
from bot.platform.models import SUGGESTION_ACTION, Channel
from bot.store import AnswerResult, AnswerSource, StoredAnswer
from bot.store.models import message_key
from bot.store.schedules.contradictions import Decision, KnownContradiction
from bot.store.schedules.watches import Watch
from bot.texts.overviews.coverage import describe_wrong
from engine import Clock, Scope
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from bot.bot import Bot
    from bot.capabilities.requests import OperationRequest
    from bot.leaks.askers import LeakAsker
    from bot.leaks.probing import PlantedStore
    from bot.leaks.stand_in import StandInPlatform

HOUR = timedelta(hours=1)


class LaterClock(Clock):
    """A clock that is ahead of another one by an hour."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> datetime:
        return self._clock.now() + HOUR

    def monotonic(self) -> float:
        return self._clock.monotonic() + HOUR.total_seconds()


async def prepare(bot: Bot, asker: LeakAsker, hall: Channel, name: str) -> None:
    """Let a person say something about a name and ask to be told of it, before others contradict them elsewhere."""
    person, place, now = asker.subject.person, hall.location, bot.clock.now()
    await bot.store.watches.add(Watch(person, place.platform, place.workspace, person, "mentioned", name, now), 1)
    await bot.store.reports.schedule(replace(place, channel=""), person, now)
    await say(bot, hall, f"leak-end-{person}", f"The contract with {name} ends on 30 June.", person)
    said = await say(bot, hall, f"leak-fee-{person}", f"The mooring fee of {name} is 40 euros.", person)
    key = message_key(place.room, said.id)
    source = AnswerSource(1, "", "", said.text, "", said.id, place.room, place.room, now)
    await _add_answer(bot, StoredAnswer(_fee_answer(person), place, person, "Which fee?", now), source, key)


def _fee_answer(person: str) -> str:
    return f"leak-fee-answer-{person}"


async def _add_answer(bot: Bot, asked: StoredAnswer, source: AnswerSource, key: str) -> None:
    """Add a posted answer that rests on one source, and suggests a question with its words."""
    used = frozenset({key}), frozenset({source.space}), frozenset({source.room})
    await bot.store.answers.begin(asked)
    result = AnswerResult(f"{source.excerpt} [1]", (source,), *used, suggestions=(f"What about {source.excerpt}?",))
    await bot.store.answers.finish(asked.id, result)
    await bot.store.answers.save_reply_ref(asked.id, f"posted-{asked.id}")


@dataclass(frozen=True, slots=True)
class BackgroundProbes:
    """What one person is told without asking. `hall`: the channel of the text for everybody."""

    store: PlantedStore
    asker: LeakAsker
    hall: Channel

    @property
    def _bot(self) -> Bot:
        return self.store.bot

    @property
    def _platform(self) -> StandInPlatform:
        found: StandInPlatform = self._bot.context.platforms[self.hall.location.platform]  # type: ignore[assignment]
        return found

    def _list_hidden(self) -> Iterator[tuple[Canary, Channel]]:
        """What the person may not read, of channels of their workspace."""
        for canary in self.store.canaries:
            channel = canary.channel
            if channel is None or canary.is_adult or may_read(self.asker, canary):
                continue
            if channel.location.workspace == self.hall.location.workspace:
                yield canary, channel

    async def run(self) -> None:
        """Contradict elsewhere what the person said, and look at what they are told and at what stays posted."""
        for number, (canary, channel) in enumerate(self._list_hidden(), 11):
            end = f"The contract with {self.store.bait.name} ends on {number} December."
            await say(self._bot, channel, f"leak-{token_hex(4)}", end)
            await self._supersede(canary, channel)
            if channel.kind != "direct":  # which never becomes another one
                await self._hide_source(canary, channel)
        await self._tell()
        await self._show_wrong()
        await self._correct_readable()

    async def _tell(self) -> None:
        """Tell of watches, contradictions and the week; who may read one side of a contradiction is told of none."""
        place, later = replace(self.hall.location, channel=""), LaterClock(self._bot.clock)
        await WatchNotifier(replace(self._bot.context, clock=later)).run_due()
        self._scan_told("chat: told of a watch", is_granted=True)
        await ContradictionNotifier(self._bot.context).search(place)
        self._scan_told("chat: told of a contradiction", is_granted=False)
        await ReportSender(self._bot).send_due()
        self._scan_told("chat: told of the week", is_granted=self.asker.kind == "manager")

    def _scan_told(self, surface: str, *, is_granted: bool) -> None:
        told = self._platform.take_sent(f"direct-{self.asker.subject.person}")
        self.store.scan(surface, self.asker, "", told)
        if told and not is_granted:
            self.store.report.add(Leak(surface, self.asker.name, "granted"))

    async def _supersede(self, canary: Canary, channel: Channel) -> None:
        """Correct elsewhere what an answer in the hall says: it must not tell that."""
        text = f"Correction: the mooring fee of {self.store.bait.name} is 90 euros, not 40 euros."
        message = await say(self._bot, channel, f"leak-{token_hex(4)}", text)
        await SupersessionFinder(self._bot.context).check(message)
        mark = await self._bot.store.superseded_answers.get(_fee_answer(self.asker.subject.person))
        if mark is not None:
            self.store.report.add(Leak("chat: mark of an answer", self.asker.name, "granted", canary.kind))

    async def _hide_source(self, canary: Canary, channel: Channel) -> None:
        """Hide the source of an answer in the hall: its suggestions lead nowhere, and it is taken back."""
        place, person, now = self.hall.location, self.asker.subject.person, self._bot.clock.now()
        source = AnswerSource(
            1, canary.title, "", canary.code, canary.key, "1", channel.location.room, canary.room, now
        )
        asked = StoredAnswer(f"leak-hidden-{token_hex(4)}", place, person, "Which code?", now)
        await _add_answer(self._bot, asked, source, canary.key)
        await self._list_actions(canary, source)
        self._platform.take_shown()
        press = ButtonPressed(token_hex(4), place, person, SUGGESTION_ACTION, f"{asked.id}:{asked.attempt}:0", "h")
        await self._bot.dispatcher.process(press)
        self.store.scan("chat: suggested question", self.asker, "", self._platform.take_shown())
        home = await self._bot.context.audience.get_home_space(channel.location)
        for space, is_hidden in (("elsewhere", False), (home, True)):  # it was elsewhere, and moved
            await self._bot.store.answers.recheck_after_move(canary.room, space, check=is_hidden)
        await self._bot.corrector.process_due()
        kept = await self._bot.store.answers.get(asked.id)
        self.store.scan("chat: posted answer", self.asker, "", kept.text if kept else "")

    async def _list_actions(self, canary: Canary, source: AnswerSource) -> None:
        """Ask what can be done with an answer of the page whose source was hidden since."""
        subject, now = self.asker.subject, self._bot.clock.now()
        place, id_ = replace(self.hall.location, channel=""), f"leak-page-{token_hex(4)}"
        page = StoredAnswer(id_, place, subject.person, "Which code?", now, private=True)
        await _add_answer(self._bot, page, source, canary.key)
        reply = await self._perform(GetAnswerActions(page.id), EMPTY_SCOPE)
        self.store.scan("actions of an answer", self.asker, "", reply)

    async def _correct_readable(self) -> None:
        """Correct the graph of a closed channel that the person reads: for managers alone."""
        bot, name = self._bot, self.store.bait.name
        place = replace(self.hall.location, channel=f"crew-{token_hex(4)}")
        crew = Channel(place, place.channel, "closed", frozenset({self.asker.subject.person}))
        await open_channel(bot, crew)
        await say(bot, crew, f"leak-{token_hex(4)}", f"{name} met {self.store.bait.friend} in the boat house.")
        await bot.context.engine_context.engine.wait_until_indexed()
        await self._perform(SetDescription(name, "A sailor.", space=place.room), Scope.of(place.room))
        changed = await bot.context.engine_context.engine.corrections.list(Scope.of(place.room))
        if changed and self.asker.kind != "manager":
            self.store.report.add(Leak("describe", self.asker.name, "granted"))

    async def _perform(self, request: OperationRequest, scope: Scope) -> str:
        """Everything that comes of a request of the person outside of a channel, as text."""
        caller, texts = Caller("person", self.asker.subject, scope, door="page"), list[str]()
        try:
            async with aclosing(run_for_person(self._bot.deps, caller, request)) as results:
                texts += [repr(result) async for result in results]
        except EngineError as error:
            texts.append(f"{error} {error.hint}")
        return "\n".join(texts)

    async def _show_wrong(self) -> None:
        """Settle a contradiction elsewhere: nobody may learn that what they read is wrong by what they may not read."""
        place, person = self.hall.location, self.asker.subject.person
        older = message_key(place.room, f"leak-fee-{person}")
        for canary, channel in self._list_hidden():
            known = KnownContradiction(f"leak-{canary.file}", replace(place, channel=""), older, canary.key)
            decision = Decision("settled", STRANGER, older, channel.location.room)
            await self._bot.store.contradictions.decide(known, decision, self._bot.clock.now())
        text = f"What is the mooring fee of {self.store.bait.name}?"
        direct = replace(place, channel=f"direct-{person}")
        self._platform.take_shown()
        asked = QuestionAsked(token_hex(4), direct, person, text, self._bot.clock.now(), private=True)
        await self._bot.dispatcher.process(asked)
        shown = self._platform.take_shown()
        self.store.scan("chat: notice of a wrong source", self.asker, text, shown)
        if describe_wrong([1]) in shown:
            self.store.report.add(Leak("chat: notice of a wrong source", self.asker.name, "granted"))
