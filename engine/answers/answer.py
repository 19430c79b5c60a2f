"""Asking: question -> rewrite and keywords -> recall -> prompt -> stream, through the citing filter."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from engine.answers.answer_stream import ShownText, well_formed_deltas
from engine.answers.citations import Citing
from engine.answers.overview_parts import noted, parts_of
from engine.answers.query_cache import QueryCache
from engine.answers.question_check import check_question
from engine.errors import BadQuestion, Closed, Unavailable
from engine.llm.plugin_calls import MODEL, guarded, next_piece
from engine.models import Condensed, Context, Prompt
from engine.retrieval.context_builder import Recalled
from engine.retrieval.overview import recall_overview
from engine.retrieval.prompt_budget import RESERVE, newest_turns, prompt_of, prompt_tokens, today
from engine.retrieval.writers import narrowed_to_writers
from engine.storage.ledger import cache
from engine.storage.ledger.queries.provenance import passages_stating
from engine.storage.ledger.queries.undated import leaves_out_undated
from engine.storage.ledger.work import work_queue
from engine.text.visible_text import is_visible_uncited
from engine.usage import Bill

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from datetime import date

    from engine.models import Message, Question, Scope, Source
    from engine.retrieval.retriever import Recaller
    from engine.runtime import Runtime
    from engine.storage.ledger.queries.provenance import Stating
    from engine.usage import Usage

HISTORY_SHARE = 4  # history takes at most a fourth of the token budget; the newest turns stay


class Answer:
    """A streamed answer. `context` is known before the first word; `sources` and `usage` are complete at the end."""

    def __init__(self, asker: Asker, recalled: Recalled, prompt: Prompt, bill: Bill) -> None:
        self.context = recalled.context
        self._asker = asker
        self._recalled = recalled
        self._prompt = prompt
        self._bill = bill
        texts = [f"{source.text}\n{source.link}" for source in self.context.sources]
        titles = [f"{source.title}\n{source.label}" for source in self.context.sources]
        self._citing = Citing([source.number for source in self.context.sources], texts, prompt.question, titles)
        self._shown = ShownText(self._citing, asker.runtime.options.window.answer)
        self._begun = False
        self._pieces = self._stream()

    def __aiter__(self) -> AsyncIterator[str]:
        return self._pieces

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources really cited, numbered as they are shown."""
        given = {source.number: source for source in self.context.sources}
        return tuple(replace(given[number], number=shown) for shown, number in enumerate(self._citing.used, 1))

    async def passages_stating(self) -> list[Stating]:
        """The passages behind the facts of the graph that it was shown, also those that are no sources."""
        recalled, ledger = self._recalled, self._asker.runtime.ledger
        return await ledger.read(passages_stating, recalled.names, recalled.pairs)

    @property
    def extractive(self) -> bool:
        """Whether it consists of quotations; else it may tell anything of what the model was shown."""
        return self._asker.runtime.language.extractive

    @property
    def cut_off(self) -> bool:
        """Whether it ended before the model had finished it; complete when the stream has ended."""
        return self._shown.full or any(each.cut_off for each in self._bill.items if each.purpose == "answer")

    @property
    def filtered(self) -> bool:
        """Whether a content filter of the provider ended it; complete when the stream has ended."""
        return any(each.filtered for each in self._bill.items if each.purpose == "answer")

    @property
    def usage(self) -> tuple[Usage, ...]:
        """What the calls made for this question took."""
        return tuple(self._bill.items)

    @property
    def _model(self) -> str:
        return next((each.model for each in self._bill.items if each.purpose == "answer"), "The model")

    async def text(self) -> str:
        """The whole answer, where nobody waits for the first word."""
        return "".join([piece async for piece in self])

    async def aclose(self) -> None:
        """Stop the answer; nothing more is generated."""
        await self._pieces.aclose()
        if not self._begun:  # a generator that was never begun does not end either
            self._begun = True
            await self._asker.charge(self._bill)

    async def _stream(self) -> AsyncGenerator[str, None]:
        self._begun = True
        shown = self._shown
        try:
            async with aclosing(self._asker.answer(self._prompt, self._recalled, self._bill)) as raw:
                async for delta in raw:
                    self._asker.runtime.ledger.must_be_open()
                    async for piece in shown.feed(delta):
                        yield piece
                    if shown.full:
                        break
        except Exception:
            async for piece in shown.close():
                yield piece  # what was held back belongs to what was said
            raise
        else:
            async for piece in shown.close():
                yield piece
            if not shown.visible:
                raise Unavailable(f"{self._model} replied with nothing.")
        finally:
            await self._asker.charge(self._bill)


@dataclass(slots=True)
class Asker:
    """Answers questions with what is recalled for them."""

    runtime: Runtime
    recaller: Recaller
    queries: QueryCache = field(default_factory=QueryCache)

    async def ask(self, question: Question) -> Answer:
        """Recall, and make the answer ready to be streamed."""
        bill, question = Bill(), self._fitted(question)
        try:
            recalled = await self._recall(question, bill)
        except BaseException:
            await self.charge(bill)
            raise
        return Answer(self, recalled, prompt_of(question, recalled.context), bill)

    async def recall(self, question: Question, bill: Bill) -> Recalled:
        """What an answer would rest on; what that took is put on the bill."""
        return await self._recall(self._trimmed(question), bill)

    async def _recall(self, question: Question, bill: Bill) -> Recalled:
        ledger, within = self.runtime.ledger, question.within
        if question.mode == "bypass":
            generation = await ledger.read(work_queue.generation)
            asked = await self._condense(question, bill) if question.overheard else Condensed(question.text)
            return Recalled(Context(asked, "bypass"), generation, scope=question.scope)
        with self.runtime.priority.asked():
            question = await narrowed_to_writers(ledger, question)
            if question.overview is not None:
                recalled = await recall_overview(ledger, question, question.overview)
            else:
                recalled = await self.recaller.recall(question, self._condense(question, bill), bill)
        undated = bool(within.since or within.until) and await ledger.read(leaves_out_undated, question.scope, within)
        return replace(recalled, scope=question.scope, context=replace(recalled.context, undated=undated))

    async def context(self, question: Question) -> Context:
        """What an answer would rest on, with its cost added to the day's sums."""
        return await self._context(self._trimmed(question))

    async def _context(self, question: Question) -> Context:
        bill = Bill()
        try:
            return (await self._recall(question, bill)).context
        finally:
            await self.charge(bill)

    async def messages(self, question: Question) -> list[Message]:
        """What the model would be sent."""
        question = self._fitted(question)
        return self.runtime.language.messages(prompt_of(question, await self._context(question)))

    async def answer(self, prompt: Prompt, recalled: Recalled, bill: Bill) -> AsyncGenerator[str, None]:
        """The raw answer: streamed anew, or replayed if exactly this was answered before within the same scope."""
        runtime = self.runtime
        if prompt.context.overview is not None:
            prompt = await self._reduced(prompt, recalled, bill)
        key = reply_key(runtime.language.name, prompt.model, runtime.language.messages(prompt), recalled.scope)
        # What an answer quotes of the history is not listed anywhere, so that it could not be forgotten with it.
        keep = runtime.options.keep_replies and not prompt.history
        if keep and (known := await runtime.ledger.read(cache.reply, key)) is not None:
            await runtime.ledger.write(cache.touch_reply, key, time.time())
            for piece in known.splitlines(keepends=True):
                yield piece
            return
        pieces: list[str] = []
        async with aclosing(well_formed_deltas(runtime.language.answer(prompt, bill))) as stream:
            with runtime.priority.asked():
                told: str | None = await next_piece(stream) or ""
            while told is not None:
                pieces.append(told)
                yield told
                told = await next_piece(stream)
        reply = "".join(pieces)
        if keep and is_visible_uncited(reply) and not any(each.cut_off for each in bill.items):
            made = cache.Reply(key, reply, recalled.generation, recalled.chunks, recalled.names, recalled.pairs)
            await runtime.ledger.write(cache.keep_reply, made, time.time())

    async def _reduced(self, prompt: Prompt, recalled: Recalled, bill: Bill) -> Prompt:
        """A prompt that fits: what is too long for one is noted part by part first."""
        runtime = self.runtime
        parts = parts_of(prompt, runtime.language.messages, runtime.tokenizer.count)
        if len(parts) < 2:
            return prompt
        notes = await asyncio.gather(*(self._note(part, recalled, bill) for part in parts))
        return noted(prompt, notes, runtime.language.messages, runtime.tokenizer.count)

    async def _note(self, part: Prompt, recalled: Recalled, bill: Bill) -> str:
        async with aclosing(self.answer(part, recalled, bill)) as stream:
            return "".join([piece async for piece in stream])

    async def charge(self, bill: Bill) -> None:
        """Add the calls to the day's sums; what is on the bill stays there for whoever reads it."""
        if not bill.items:
            return
        with suppress(Closed):  # of an answer that outlived its engine
            await self.runtime.ledger.write(cache.add_usage, today().isoformat(), tuple(bill.items))

    async def _condense(self, question: Question, bill: Bill) -> Condensed:
        """Keywords that are given or remembered cost no call; a naive question without history needs none.

        They are remembered by all that they depend on, and by the scope: what comes at once was asked before.
        """
        day, scope = today(), question.scope
        key = (question.overheard, question.text, question.history, day, question.asker, scope)
        if question.overheard:
            return await self.queries.get(key, lambda: self._overheard(question, day, bill))
        if question.high or question.low:
            return Condensed(question.text, question.high, question.low)
        if question.mode == "naive" and not question.history:
            return Condensed(question.text)
        made = await self.queries.get(key, lambda: self._condensed(question, day, bill))
        return made if made.high or made.low else replace(made, low=(made.question,))

    async def _condensed(self, question: Question, day: date, bill: Bill) -> Condensed:
        condense = self.runtime.language.condense
        with guarded(MODEL):
            return await condense(question.text, question.history, bill, today=day, asker=question.asker)

    async def _overheard(self, question: Question, day: date, bill: Bill) -> Condensed:
        condense = self.runtime.language.condense_overheard
        with guarded(MODEL):
            heard = await condense(question.text, question.history, bill, today=day, asker=question.asker)
        return heard or Condensed(question.text, ignored=True)

    def _trimmed(self, question: Question) -> Question:
        """The question with as many of the newest turns of its history as there is room for."""
        check_question(question)
        question = self.runtime.options.window.question(question)
        total = question.max_total_tokens
        left = min(total // HISTORY_SHARE, total - self._bare(question) - RESERVE)
        return replace(question, history=newest_turns(question.history, left, self.runtime.tokenizer))

    def _fitted(self, question: Question) -> Question:
        """The same. Raises BadQuestion if even without history and sources the prompt would be too long."""
        question = self._trimmed(question)
        if (bare := self._bare(question)) > question.max_total_tokens:
            raise BadQuestion(
                f"The question and what has to be said with it take {bare:,} tokens;"
                f" {question.max_total_tokens:,} are allowed.",
                hint="Ask in fewer words, with shorter instructions, or raise max_total_tokens.",
            )
        return question

    def _bare(self, question: Question) -> int:
        """The tokens of the prompt without history and sources."""
        bare = prompt_of(replace(question, history=()), Context(Condensed(question.text), question.mode))
        return prompt_tokens(self.runtime, bare)


def reply_key(language: str, model: str, messages: Sequence[Message], scope: Scope | None) -> bytes:
    """The identity of an answer: the model and the final messages, so that it can never be out of date.

    The scope belongs to it too: an answer that comes at once tells that somebody asked the same before.
    """
    asked = [sorted(scope.spaces), sorted(scope.rooms)] if scope else None
    told = [language, model, asked, *([message.role, message.content] for message in messages)]
    return sha256(json.dumps(told, ensure_ascii=False).encode()).digest()
