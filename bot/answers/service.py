"""A question becomes a reply: a status at once, words as they come, sources below; and once only, whatever happens.

A question is kept before the first call and finished after the last one. Cut off in between, it is answered again into
the same reply. Whatever goes wrong ends in a sentence that the asker sees, with a reference into the log.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

import structlog

from bot import texts
from bot.answers.attachments import Enclosed
from bot.answers.delivery import Delivery
from bot.answers.draft import Draft, below
from bot.answers.history import Historian
from bot.answers.question import heading, put, reach_of
from bot.answers.sources.citation_links import addresses
from bot.answers.sources.graph_evidence import note_facts
from bot.errors import PlatformError, Withheld
from bot.permissions.provenance import basis, person_of, readable
from bot.platform.models import Card
from bot.store import Outcome
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.answers.request import Request
    from bot.context import House
    from bot.ingest.files import Filing
    from bot.monitoring import Metrics
    from bot.permissions.provenance import Basis
    from bot.permissions.quotas import Guards
    from bot.platform.models import Channel
    from engine.answers.answer import Answer
    from engine.models import Question

log = structlog.get_logger(__name__)

AT_ONCE = 4  # recalls; so that the status of many questions does not wait for the search of the first ones


class Answering:
    """Answers questions."""

    def __init__(self, house: House, guards: Guards, filing: Filing, metrics: Metrics) -> None:
        self._house = house
        self._guards = guards
        self._filing = filing
        self._metrics = metrics
        self._historian = Historian(house)
        self._working: set[str] = set()
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def answer(self, request: Request) -> bool:
        """Answer a question, and take in its files. One that is answered, or being answered, is left alone.

        False if it was overheard, and nothing is said to it: no question to the bot, or nothing was found.
        Raises PlatformError if something may be done later that cannot be done now; then it may be called again.
        """
        async with Enclosed(request, self._filing, self._house.settings.file_wait) as enclosed:
            if request.id in self._working:
                return True
            self._working.add(request.id)
            try:
                return await self._once(request, enclosed)
            finally:
                self._working.discard(request.id)

    async def give_up(self, request: Request, error: Exception) -> None:
        """It was tried often enough: say what hindered it, if that can be said."""
        stored = await self._house.store.answers.get(request.id)
        if stored is not None and stored.state != "begun":
            return
        if request.overheard and (stored is None or not stored.mark):
            await self._house.store.answers.drop(request.id)
            return
        sentence = texts.failure(error, request.reference)
        if stored is None or not stored.mark or not await self._replaced(request, stored.mark, sentence):
            await self._refuse(request, sentence, "failed")

    async def _replaced(self, request: Request, mark: str, sentence: str) -> bool:
        """Whether this could be said in place of what was begun."""
        try:
            await self._house.platform(request.place).reply(request.target(mark)).replace(sentence)
        except PlatformError as error:
            log.warning("begun_answer_stays", reference=request.reference, error=type(error).__name__)
            return False
        await self._end(request, "failed")
        return True

    async def _once(self, request: Request, enclosed: Enclosed) -> bool:
        stored = await self._house.store.answers.get(request.id)
        if stored is not None and stored.state != "begun":
            return True
        if stored is None and not await self._admitted(request):
            return not request.overheard
        mark = stored.mark if stored else ""
        platform = self._house.platform(request.place)
        noted = partial(self._house.store.answers.mark, request.id)
        async with Delivery(platform.reply(request.target(mark)), platform.limits, noted) as delivery:
            return await self._deliver(Draft(request), delivery, enclosed)

    async def _admitted(self, request: Request) -> bool:
        """Whether a new question is answered. It is kept once it was counted, or its refusal told."""
        refusal = await self._guards.refusal(request.place, request.person)
        if refusal and request.overheard:
            return False
        if refusal:
            await self._house.whisper(request.target(), Card(refusal))
        await self._house.store.answers.begin(request.stored())
        if refusal:
            await self._end(request, "refused")
        return not refusal

    async def _refuse(self, request: Request, sentence: str, outcome: str) -> None:
        """Say why there is no answer: to the asker alone where a channel allows that, else below their question."""
        await self._house.whisper(request.target(), Card(sentence))
        await self._end(request, outcome)

    async def _deliver(self, draft: Draft, delivery: Delivery, enclosed: Enclosed) -> bool:
        """Write the answer, or what came between; then bring it to an end. False if nothing is to be said."""
        began = time.monotonic()
        if not draft.request.overheard:
            delivery.status(texts.READING if draft.request.files else texts.SEARCHING)
        try:
            await self._write(draft, delivery, enclosed)
        except Exception as error:  # noqa: BLE001 - whatever it is, the asker is told
            self._broke(draft, error)
        if draft.silent:
            await self._keep_silent(draft)
            return False
        await self._finish(draft, delivery)
        if delivery.first_words is not None:
            self._metrics.spoke(draft.request.place.platform, delivery.first_words - began)
        return True

    async def _keep_silent(self, draft: Draft) -> None:
        """Leave no trace of an answer to what was overheard."""
        await self._guards.charge(draft.request.place, draft.usage)
        self._metrics.spent(draft.usage)
        await self._house.store.answers.drop(draft.request.id)
        self._metrics.asked(draft.request.place.platform, "silent")

    async def _write(self, draft: Draft, delivery: Delivery, enclosed: Enclosed) -> None:
        draft.channel = await self._channel(draft.request)
        delivery.heading = await heading(self._house, draft.request, draft.channel)
        reach = await reach_of(self._house, draft.request)
        question = await put(self._house, draft.request, reach)
        draft.scope, draft.gap = reach.scope, reach.gap
        if not question.text:
            await self._ask_back(draft, enclosed)
            return
        past = await self._historian.before(draft.request, question.scope)
        within = await enclosed.ready(draft.notes)
        if draft.request.files and not draft.request.overheard:
            delivery.status(texts.SEARCHING)
        since = self._house.readers.clock()
        async with aclosing(await self._ask(replace(question, history=past.turns), within, draft)) as answer:
            draft.basis, draft.recalled = basis(answer.context, question.scope, past, since), answer.context.sources
            draft.past = past
            delivery.may = partial(readable, self._house, draft.basis, draft.request.place, person_of(draft.request))
            delivery.links = lambda: addresses(answer.sources)
            try:
                await self._stream(answer, draft, delivery)
            finally:
                draft.sources = answer.sources
                draft.usage += answer.usage
                await note_facts(answer, draft)

    async def _ask_back(self, draft: Draft, enclosed: Enclosed) -> None:
        """Nothing was asked; perhaps there is a file to be asked about."""
        if draft.request.overheard:
            draft.silent = True
            return
        draft.text, draft.failed = texts.EMPTY, True
        if draft.request.files:
            notes: list[str] = []
            read = await enclosed.ready(notes) or notes in ([texts.FILE_UNREADY], [texts.FILE_UNREAD])
            draft.text = texts.TAKEN if read else " ".join(notes) or texts.EMPTY

    async def _channel(self, request: Request) -> Channel | None:
        try:
            return await self._house.readers.channel(request.place)
        except PlatformError:
            return None

    async def _ask(self, question: Question, within: frozenset[str], draft: Draft) -> Answer:
        """Ask the files that came with the question first, then everything in scope."""
        engine = self._house.desk.engine
        async with self._turns:
            if within:
                answer = await engine.ask(replace(question, within=replace(question.within, documents=within)))
                if not answer.context.empty or answer.context.question.ignored:
                    return answer
                draft.usage += answer.usage
                draft.notes.append(texts.FILE_SILENT)
            return await engine.ask(question)

    async def _stream(self, answer: Answer, draft: Draft, delivery: Delivery) -> None:
        overheard, bypass = draft.request.overheard, answer.context.mode == "bypass"
        if answer.context.question.ignored or (answer.context.empty and not bypass):
            draft.silent = overheard
            draft.text = texts.nothing(draft.gap)
            return
        if answer.context.overview is not None and answer.context.overview.truncated:
            draft.notes.append(texts.ONLY_NEWEST)
        said = ""
        async for piece in answer:
            said += piece
            if overheard and not (answer.sources or bypass):
                continue  # in the words of a model, "I found nothing" cites nothing
            draft.text = said
            delivery.say(draft.text)
            if delivery.withdrawn:
                return
        draft.silent = overheard and not draft.text
        if draft.gap and not answer.sources and texts.says_nothing(draft.text):
            draft.text = texts.nothing(draft.gap)
        if answer.cut_off:
            told = texts.FILTERED if answer.filtered else texts.CUT_OFF
            draft.text = f"{draft.text.rstrip()}\n\n_{told}_".lstrip()

    def _broke(self, draft: Draft, error: Exception) -> None:
        """Keep what was said, and say what happened."""
        reference, kind = draft.request.reference, type(error).__name__
        where = [] if isinstance(error, EngineError) else traceback.format_tb(error.__traceback__)
        log.error("answer_failed", reference=reference, error=kind, where="".join(where))
        if draft.text.strip():
            draft.text = f"{draft.text.rstrip()}\n\n{texts.broken_off(error, reference)}"
        else:
            draft.text, draft.failed = texts.failure(error, reference), True
            draft.silent = draft.request.overheard

    async def _finish(self, draft: Draft, delivery: Delivery) -> None:
        request = draft.request
        await self._guards.charge(request.place, draft.usage)
        self._metrics.spent(draft.usage)
        try:
            delivered = await delivery.finish(draft.text, await below(self._house, draft))
        except Withheld as error:
            await self._refuse(request, texts.failure(error, request.reference), "failed")
            return
        if not delivered:
            await self._end(request, "withdrawn")
        elif draft.failed or draft.basis is None:
            await self._end(request, "failed")
        else:
            await self._keep(draft, delivery)

    async def _keep(self, draft: Draft, delivery: Delivery) -> None:
        """Remember the answer; if something that it used was removed meanwhile, it is taken back.

        Where all see it, a correction is pending too, in case the platform fails now.
        """
        request, based = draft.request, cast("Basis", draft.basis)
        drawn = based.drawn
        outcome = Outcome(draft.text, draft.cited, draft.used, drawn.spaces, drawn.rooms, draft.shown)
        if not await self._house.store.answers.finish(request.id, outcome):
            await self._take_back(request, delivery)
        self._metrics.asked(request.place.platform, "answered" if draft.sources else "nothing")

    async def _take_back(self, request: Request, delivery: Delivery) -> None:
        try:
            await delivery.reply.replace(texts.SOURCE_REMOVED)
        except PlatformError as error:
            log.warning("answer_not_taken_back", reference=request.reference, error=type(error).__name__)
        else:
            await self._house.store.corrections.done(request.id)

    async def _end(self, request: Request, outcome: str) -> None:
        await self._house.store.answers.fail(request.id)
        self._metrics.asked(request.place.platform, outcome)
