"""A question becomes a reply: a status at once, words as they come, sources below; and once only, whatever happens.

A question is kept before the first call and finished after the last one. Cut off in between, it is answered again into
the same reply. Whatever goes wrong ends in a sentence that the asker sees, with a reference into the log.
"""

from __future__ import annotations

import time
import traceback
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, cast

import structlog

from bot import closing, wording
from bot.asked import again, spoken
from bot.basis import basis, person_of, readable
from bot.chat import Card, Closing
from bot.delivery import Delivery
from bot.enclosing import Enclosed
from bot.errors import PlatformError, Withheld
from bot.history import Historian
from bot.store import Outcome
from engine.errors import EngineError
from engine.records import Mode, Question, Within

if TYPE_CHECKING:
    from bot.asked import Request
    from bot.basis import Basis
    from bot.chat import Channel
    from bot.filing import Filing
    from bot.guards import Guards
    from bot.health import Metrics
    from bot.house import House
    from bot.store import ChannelSettings, Drawn, Stored
    from engine.asking import Answer
    from engine.records import Source, Usage

log = structlog.get_logger(__name__)

LATELY = 60  # chunks that the answer to “what did I miss?” may draw on


@dataclass(slots=True)
class Draft:
    """An answer in the making. `channel` is None if its facts cannot be had; `failed`: it is a sentence why not."""

    request: Request
    channel: Channel | None = None
    text: str = ""
    basis: Basis | None = None
    sources: tuple[Source, ...] = ()
    usage: tuple[Usage, ...] = ()
    notes: list[str] = field(default_factory=list)
    failed: bool = False

    @property
    def alone(self) -> bool:
        """Whether only the asker reads it."""
        return self.request.private or (self.channel is not None and self.channel.kind == "direct")


class Answering:
    """Answers questions."""

    def __init__(self, house: House, guards: Guards, filing: Filing, metrics: Metrics) -> None:
        self._house = house
        self._guards = guards
        self._filing = filing
        self._metrics = metrics
        self._historian = Historian(house)
        self._working: set[str] = set()

    async def resume(self, stored: Stored) -> None:
        """Answer what was begun before a restart, into the same reply. Raises PlatformError as `answer` does."""
        await self.answer(again(stored))

    async def answer(self, request: Request) -> None:
        """Answer a question, and take in its files. One that is answered, or being answered, is left alone.

        Raises PlatformError if something may be done later that cannot be done now; then it may be called again.
        """
        async with Enclosed(request, self._filing, self._house.settings.file_wait) as enclosed:
            if request.id in self._working:
                return
            self._working.add(request.id)
            try:
                await self._once(request, enclosed)
            finally:
                self._working.discard(request.id)

    async def give_up(self, request: Request, error: Exception) -> None:
        """It was tried often enough: say what hindered it, if that can be said."""
        stored = await self._house.store.answers.get(request.id)
        if stored is None or stored.state == "begun":
            await self._refuse(request, wording.failure(error, request.reference), "failed")

    async def _once(self, request: Request, enclosed: Enclosed) -> None:
        stored = await self._house.store.answers.get(request.id)
        if stored is not None and stored.state != "begun":
            return
        if stored is None:
            await self._house.store.answers.begin(request.stored())
            if refusal := await self._guards.refusal(request.place, request.person):
                await self._refuse(request, refusal, "refused")
                return
        platform = self._house.platform(request.place)
        reply = platform.reply(request.target(stored.mark if stored else ""))
        async with Delivery(reply, platform.limits, partial(self._house.store.answers.mark, request.id)) as delivery:
            await self._deliver(Draft(request), delivery, enclosed)

    async def _refuse(self, request: Request, sentence: str, outcome: str) -> None:
        """Say to the asker alone why there is no answer."""
        await self._house.platform(request.place).whisper(request.target(), Card(sentence))
        await self._end(request, outcome)

    async def _deliver(self, draft: Draft, delivery: Delivery, enclosed: Enclosed) -> None:
        """Write the answer, or what came between; then bring it to an end."""
        began = time.monotonic()
        delivery.status(wording.READING if draft.request.files else wording.SEARCHING)
        try:
            await self._write(draft, delivery, enclosed)
        except Exception as error:  # noqa: BLE001 - whatever it is, the asker is told
            self._broke(draft, error)
        await self._finish(draft, delivery)
        if delivery.first_words is not None and delivery.spoke:
            self._metrics.spoke(draft.request.place.platform, delivery.first_words - began)

    async def _write(self, draft: Draft, delivery: Delivery, enclosed: Enclosed) -> None:
        question = await self._question(draft)
        if not question.text:
            draft.text, draft.failed = wording.EMPTY, True
            return
        past = await self._historian.before(draft.request, question.scope)
        question = replace(question, history=past.turns)
        within = await enclosed.ready(draft.notes)
        if draft.request.files:
            delivery.status(wording.SEARCHING)
        since = self._house.readers.clock()
        async with aclosing(await self._ask(question, within, draft)) as answer:
            draft.basis = basis(answer.context, question.scope, past, since)
            delivery.may = partial(readable, self._house, draft.basis, draft.request.place, person_of(draft.request))
            try:
                await self._stream(answer, draft, delivery)
            finally:
                draft.sources = answer.sources
                draft.usage += answer.usage

    async def _question(self, draft: Draft) -> Question:
        """What is asked of the engine, but for what was said before."""
        request, readers = draft.request, self._house.readers
        person = person_of(request)
        scope = await (readers.scope_alone(request.place, person) if person else readers.scope_here(request.place))
        try:
            draft.channel = await readers.channel(request.place)
        except PlatformError:
            draft.channel = None
        chosen = await self._house.store.channels.get(request.place.room)
        question = Question(
            await self._text(request),
            scope,
            mode=self._mode(request, chosen),
            instructions=f"Answer in {chosen.language}." if chosen.language else "",
            style=chosen.style,
        )
        return _lately(question, request) if request.since else question

    async def _text(self, request: Request) -> str:
        """The question with names in place of ids."""
        text = spoken(request.text)
        try:
            return (await self._house.platform(request.place).readable(request.place.workspace, text)).strip()
        except PlatformError:
            return text

    def _mode(self, request: Request, chosen: ChannelSettings) -> Mode:
        return cast("Mode", request.mode or chosen.mode or self._house.settings.mode)

    async def _ask(self, question: Question, within: frozenset[str], draft: Draft) -> Answer:
        """Ask the files that came with the question first, then everything in scope."""
        engine = self._house.desk.engine
        if within:
            answer = await engine.ask(replace(question, within=replace(question.within, documents=within)))
            if not answer.context.empty:
                return answer
            draft.usage += answer.usage
            draft.notes.append(wording.FILE_SILENT)
        return await engine.ask(question)

    async def _stream(self, answer: Answer, draft: Draft, delivery: Delivery) -> None:
        if answer.context.empty and answer.context.mode != "bypass":
            draft.text = wording.nothing(alone=draft.alone)
            return
        async for piece in answer:
            draft.text += piece
            delivery.say(draft.text)
            if delivery.withdrawn:
                return

    def _broke(self, draft: Draft, error: Exception) -> None:
        """Keep what was said, and say what happened."""
        reference, kind = draft.request.reference, type(error).__name__
        where = [] if isinstance(error, EngineError) else traceback.format_tb(error.__traceback__)
        log.error("answer_failed", reference=reference, error=kind, where="".join(where))
        if draft.text.strip():
            draft.text = f"{draft.text.rstrip()}\n\n{wording.broken_off(error, reference)}"
        else:
            draft.text, draft.failed = wording.failure(error, reference), True

    async def _finish(self, draft: Draft, delivery: Delivery) -> None:
        request = draft.request
        await self._guards.charge(request.place, draft.usage)
        self._metrics.spent(draft.usage)
        sources = tuple(closing.drawn(each, draft.text) for each in draft.sources)
        try:
            delivered = await delivery.finish(draft.text, await self._closing(draft, sources))
        except Withheld as error:
            await self._refuse(request, wording.failure(error, request.reference), "failed")
            return
        if not delivered:
            await self._end(request, "withdrawn")
        elif draft.failed or draft.basis is None:
            await self._end(request, "failed")
        else:
            await self._keep(draft, sources, delivery)

    async def _keep(self, draft: Draft, sources: tuple[Drawn, ...], delivery: Delivery) -> None:
        """Remember the answer; if something that it draws on was forgotten meanwhile, it is taken back."""
        request, based = draft.request, cast("Basis", draft.basis)
        outcome = Outcome(draft.text, sources, based.documents, based.drawn.spaces, based.drawn.rooms)
        if not await self._house.store.answers.finish(request.id, outcome):
            await delivery.reply.replace(wording.FORGOTTEN)
        self._metrics.asked(request.place.platform, "answered" if sources else "nothing")

    async def _end(self, request: Request, outcome: str) -> None:
        await self._house.store.answers.fail(request.id)
        self._metrics.asked(request.place.platform, outcome)

    async def _closing(self, draft: Draft, sources: tuple[Drawn, ...]) -> Closing:
        if draft.failed:
            return Closing(draft.request.id)
        notes = [self._audience(draft), *draft.notes, *await self._doubts(draft, sources)]
        share = draft.request.private and draft.channel is not None and draft.channel.kind != "direct"
        return closing.closing(draft.request.id, sources, notes, private=draft.request.private, share=share)

    def _audience(self, draft: Draft) -> str:
        if draft.request.private:
            return wording.ONLY_YOU
        if draft.channel is None:
            return wording.FROM_HERE
        return wording.FROM_YOURS if draft.alone else wording.from_all(draft.channel.name)

    async def _doubts(self, draft: Draft, sources: tuple[Drawn, ...]) -> list[str]:
        """What is to be said of an answer that nothing stands behind."""
        if sources:
            return []
        nothing = draft.text.startswith((wording.NOTHING_FOUND, wording.NOTHING_FOUND_ALONE))
        notes = [] if nothing else [wording.UNSUPPORTED]
        notes += [] if nothing or draft.alone else [wording.ASK_ALONE]
        reading = await self._house.store.cursors.of(draft.request.place.room) is not None
        return notes + ([wording.STILL_READING] if reading else [])


def _lately(question: Question, request: Request) -> Question:
    """A question about whatever was said in a channel since a time, however little it sounds like the question."""
    within = Within(rooms=frozenset({request.place.room}), since=request.since)
    return replace(question, within=within, chunk_top_k=LATELY, threshold=-1.0)
