"""Answer questions: rewrite the question, retrieve a context, build the prompt, stream the filtered reply."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import structlog

from engine.answers.answer_stream import AnswerFilter, has_visible_uncited_text, repair_deltas
from engine.answers.citations import CitationFilter
from engine.answers.former_statements import add_former_statements
from engine.answers.overview_parts import build_combined_prompt, split_prompt
from engine.answers.query_rewriter import QueryRewriter, answer_cache_key, keep_if_possible, retrieve_with_filters
from engine.answers.spelling import correct_spelling, drop_unshown
from engine.boundary import check_question
from engine.errors import EngineClosed, InvalidQuestion, InvalidReply, ModelError
from engine.llm.base import MODEL_LABEL, EventJudge, guard_plugin_call, next_answer_delta
from engine.llm.formats.outcomes import gives_text
from engine.models import Context, Prompt, SearchQuery
from engine.retrieval.overview import retrieve_overview
from engine.retrieval.passage_scores import restrict_to_writers
from engine.retrieval.results import RetrievalResult
from engine.retrieval.sources import RESERVED_TOKENS, build_prompt, count_prompt_tokens, newest_turns
from engine.scheduling.supervisor import describe_error
from engine.storage.ledger.records import CachedAnswer
from engine.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from engine.llm.base import EventRequest
    from engine.models import LLMMessage, Question, Source
    from engine.retrieval.retriever import Retriever
    from engine.runtime import Runtime
    from engine.storage.ledger.records import StatingPassage
    from engine.usage import Usage

log = structlog.get_logger(__name__)

MIN_CONTEXT_SHARE = 2  # at least a half of the wanted prompt is for history and sources
HISTORY_SHARE = 4  # history takes at most a fourth of the token budget; the oldest turns are dropped


class Answer:
    """A streamed answer: iterate over it for text with citations [1]; `sources` and `usage` are complete at its end."""

    def __init__(self, service: AnswerService, result: RetrievalResult, prompt: Prompt, meter: UsageMeter) -> None:
        self.context = result.context
        self._service = service
        self._result = result
        self._prompt = prompt
        self._meter = meter
        texts = [f"{source.text}\n{source.link}" for source in self.context.sources]
        titles = [f"{source.title}\n{source.label}" for source in self.context.sources]
        self._citation_filter = CitationFilter(
            [source.number for source in self.context.sources], texts, prompt.question, titles
        )
        self._answer_filter = AnswerFilter(
            self._citation_filter, service.runtime.options.context_window.max_answer_characters
        )
        self._started = False
        self._deltas = self._stream()

    def __aiter__(self) -> AsyncIterator[str]:
        return self._deltas

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources cited so far, with the numbers that the text shows."""
        by_number = {source.number: source for source in self.context.sources}
        return tuple(
            replace(by_number[number], number=shown)
            for shown, number in enumerate(self._citation_filter.used_numbers, 1)
        )

    async def load_supporting_passages(self) -> list[StatingPassage]:
        """The passages that state the context's entities and relations, including those that are not sources."""
        retrieved, ledger = self._result, self._service.runtime.ledger
        return await ledger.search.find_stating_passages(retrieved.names, retrieved.pairs)

    @property
    def is_extractive(self) -> bool:
        """Whether the answer only quotes its sources; a model's answer may repeat any part of the prompt."""
        return self._service.runtime.language.is_extractive

    @property
    def is_truncated(self) -> bool:
        """Whether the answer was cut off; final when the stream has ended."""
        return self._answer_filter.is_full or any(
            item.cut_off for item in self._meter.items if item.purpose == "answer"
        )

    @property
    def is_filtered(self) -> bool:
        """Whether the provider's content filter stopped the answer; final when the stream has ended."""
        return any(item.filtered for item in self._meter.items if item.purpose == "answer")

    @property
    def usage(self) -> tuple[Usage, ...]:
        """The model calls made for this question."""
        return tuple(self._meter.items)

    @property
    def _model_name(self) -> str:
        return next((item.model for item in self._meter.items if item.purpose == "answer"), "The model")

    async def collect_text(self) -> str:
        """Wait for the whole answer and return its text."""
        return "".join([piece async for piece in self])

    async def aclose(self) -> None:
        """Stop generating the answer."""
        await self._deltas.aclose()
        if not self._started:  # the `finally` of a generator that never started does not run
            self._started = True
            await self._service.record_usage(self._meter)

    async def _stream(self) -> AsyncGenerator[str, None]:
        self._started = True
        shown = self._answer_filter
        try:
            async with aclosing(self._service.stream_answer(self._prompt, self._result, self._meter)) as raw:
                async for delta in raw:
                    self._service.runtime.ledger.check_open()
                    async for piece in shown.feed(delta):
                        yield piece
                    if shown.is_full:
                        break
        except Exception:
            async for piece in shown.close():
                yield piece  # text held back by the filter belongs to the partial answer
            raise
        else:
            async for piece in shown.close():
                yield piece
            if not shown.has_visible_text:
                raise InvalidReply(f"{self._model_name} returned an empty reply.")
        finally:
            await self._service.record_usage(self._meter)


@dataclass(slots=True)
class AnswerService:
    """Answers questions from a retrieved context."""

    runtime: Runtime
    retriever: Retriever
    query_rewriter: QueryRewriter = field(init=False)

    def __post_init__(self) -> None:
        self.query_rewriter = QueryRewriter(self.runtime.language, self.runtime.clock)

    async def ask(self, question: Question, *, use_cache: bool = True) -> Answer:
        """Retrieve the context and return the answer, ready to stream; as in Engine.ask."""
        meter, question = UsageMeter(), self._fit_question(replace(question, for_prompt=True))
        try:
            retrieved = replace(await self._retrieve(question, meter), use_cache=use_cache)
        except BaseException:
            await self.record_usage(meter)
            raise
        return Answer(self, retrieved, self._build_prompt(question, retrieved.context), meter)

    async def retrieve(self, question: Question, meter: UsageMeter) -> RetrievalResult:
        """The context of a question with its provenance; the model calls are recorded in `meter`."""
        return await self._retrieve(self._trim_history(question), meter)

    async def _retrieve(self, question: Question, meter: UsageMeter) -> RetrievalResult:
        ledger, within = self.runtime.ledger, question.filters
        if question.mode == "bypass":
            generation = await ledger.settings.current_generation()
            asked = (
                await self.query_rewriter.build_query(question, meter)
                if question.is_unaddressed
                else SearchQuery(question.text)
            )
            return RetrievalResult(Context(asked, "bypass"), generation, scope=question.scope)
        with self.runtime.priority.foreground_request():
            question = await restrict_to_writers(ledger, question, self.runtime.options.spaces_without_authors)
            if question.overview is not None:
                retrieved = await retrieve_overview(ledger, question, question.overview)
                if question.overview.kind == "digest":
                    retrieved = await add_former_statements(self.retriever, question, retrieved, meter)
            else:
                query = self.query_rewriter.build_query(question, meter)
                if self.runtime.language.is_extractive:  # a model understands misspelled words
                    query = correct_spelling(self.runtime, question, query)
                retrieved = await retrieve_with_filters(self.runtime, self.retriever, question, query, meter)
        self.runtime.priority.record_quoted(retrieved.chunks)
        undated = bool(within.since or within.until) and await ledger.search.has_excluded_undated(
            question.scope, within
        )
        rebuilding = bool(await ledger.settings.get("reindexing"))
        texts = (text for source in retrieved.context.sources for text in (source.title, source.text))
        asked = drop_unshown(retrieved.context.question, texts)
        context = replace(retrieved.context, question=asked, undated=undated, rebuilding=rebuilding, as_of=within.as_of)
        return replace(retrieved, scope=question.scope, context=context)

    async def retrieve_context(self, question: Question) -> Context:
        """The context of a question; the model calls count toward the day's usage."""
        return await self._retrieve_context(self._trim_history(question))

    async def _retrieve_context(self, question: Question) -> Context:
        meter = UsageMeter()
        try:
            return (await self._retrieve(question, meter)).context
        finally:
            await self.record_usage(meter)

    async def build_messages(self, question: Question) -> list[LLMMessage]:
        """The messages that the model would receive."""
        question = self._fit_question(replace(question, for_prompt=True))
        return self.runtime.language.build_answer_messages(
            self._build_prompt(question, await self._retrieve_context(question))
        )

    async def stream_answer(
        self, prompt: Prompt, retrieved: RetrievalResult, meter: UsageMeter
    ) -> AsyncGenerator[str, None]:
        """The unfiltered answer: from the cache if the prompt was answered in the same scope, else from the model."""
        runtime = self.runtime
        if prompt.context.overview is not None:
            prompt = await self._answer_parts(prompt, retrieved, meter)
        key = answer_cache_key(
            runtime.language.name, prompt.model, runtime.language.build_answer_messages(prompt), retrieved.scope
        )
        # An answer with history is not cached: its text may quote turns, and could not be deleted with them.
        keep = runtime.options.cache_answers and not prompt.history
        if keep and retrieved.use_cache and (cached := await runtime.ledger.cache.find_answer(key)) is not None:
            await keep_if_possible(runtime.ledger.cache.touch_answer(key, runtime.clock.time()))
            for piece in cached.splitlines(keepends=True):
                yield piece
            return
        pieces: list[str] = []
        async with aclosing(repair_deltas(runtime.language.answer(prompt, meter))) as stream:
            with runtime.priority.foreground_request():
                delta: str | None = await next_answer_delta(stream) or ""
            while delta is not None:
                pieces.append(delta)
                yield delta
                delta = await next_answer_delta(stream)
        reply = "".join(pieces)
        is_whole = gives_text(reply) and not any(item.cut_off for item in meter.items)
        if keep and has_visible_uncited_text(reply) and is_whole:
            entry = CachedAnswer(key, reply, retrieved.generation, retrieved.chunks, retrieved.names, retrieved.pairs)
            await keep_if_possible(runtime.ledger.cache.save_answer(entry, runtime.clock.time()))

    async def _answer_parts(self, prompt: Prompt, retrieved: RetrievalResult, meter: UsageMeter) -> Prompt:
        """Answer sources that are too long for one prompt in parts, and build a prompt from these partial answers."""
        runtime = self.runtime
        parts = split_prompt(prompt, runtime.language.build_answer_messages, runtime.tokenizer.count)
        if len(parts) < 2:
            return prompt
        answers = await asyncio.gather(*(self._answer_part(part, retrieved, meter) for part in parts))
        return build_combined_prompt(prompt, answers, runtime.language.build_answer_messages, runtime.tokenizer.count)

    async def _answer_part(self, part: Prompt, retrieved: RetrievalResult, meter: UsageMeter) -> str:
        """The answer from a part of the sources; asked for once more if the first one gives nothing."""
        text = await self._write_part(part, retrieved, meter)
        return text if gives_text(text) else await self._write_part(part, retrieved, meter)

    async def _write_part(self, part: Prompt, retrieved: RetrievalResult, meter: UsageMeter) -> str:
        pieces, length = list[str](), 0
        limit = self.runtime.options.context_window.max_answer_characters
        async with aclosing(self.stream_answer(part, retrieved, meter)) as stream:
            async for piece in stream:
                pieces.append(piece[: limit - length])
                length += len(pieces[-1])
                if length >= limit:
                    break
        return "".join(pieces)

    async def judge_event(self, request: EventRequest) -> bool | None:
        """Whether the last message of a request says what is awaited; None if no model can tell."""
        language, meter = self.runtime.language, UsageMeter()
        if not isinstance(language, EventJudge) or not request.messages:
            return None
        try:
            with guard_plugin_call(MODEL_LABEL):
                return await language.judge_event(request, meter)
        except ModelError as error:
            log.warning("answer.event_not_judged", error=describe_error(error))
            return None
        finally:
            await self.record_usage(meter)

    async def record_usage(self, meter: UsageMeter) -> None:
        """Add the model calls to the day's usage; `meter` keeps them for the caller."""
        if not meter.items:
            return
        with suppress(EngineClosed):  # the answer may outlive its engine
            day = self.runtime.clock.now().date().isoformat()
            await keep_if_possible(self.runtime.ledger.cache.add_usage(day, tuple(meter.items)))

    def _build_prompt(self, question: Question, context: Context) -> Prompt:
        return build_prompt(question, context, self.runtime.clock.now())

    def _trim_history(self, question: Question) -> Question:
        """The question with the newest turns of its history that fit."""
        check_question(question)
        if not question.for_prompt:
            return replace(question, history=())
        question = self._limit_prompt(self.runtime.options.context_window.fit_question(question))
        if not question.history:
            return question
        total = question.max_total_tokens
        history_tokens = min(total // HISTORY_SHARE, total - self._count_base_tokens(question) - RESERVED_TOKENS)
        return replace(question, history=newest_turns(question.history, history_tokens, self.runtime.tokenizer))

    def _limit_prompt(self, question: Question) -> Question:
        """The question with the tokens that its prompt is worth; a long question or long instructions get more.

        Quotations cost no tokens, and an overview is worth all of them.
        """
        limit = self.runtime.options.prompt_tokens
        if not limit or limit >= question.max_total_tokens:
            return question
        if self.runtime.language.is_extractive or question.overview is not None:
            return question
        wanted = max(limit, self._count_base_tokens(question) + limit // MIN_CONTEXT_SHARE)
        return replace(question, max_total_tokens=min(question.max_total_tokens, wanted))

    def _fit_question(self, question: Question) -> Question:
        """Trim the history of a question. Raises InvalidQuestion if the rest of the prompt alone is too long."""
        question = self._trim_history(question)
        if (bare := self._count_base_tokens(question)) > question.max_total_tokens:
            raise InvalidQuestion(
                f"The question and its instructions take {bare:,} tokens; the limit is {question.max_total_tokens:,}.",
                hint="Shorten the question or the instructions, or raise max_total_tokens.",
            )
        return question

    def _count_base_tokens(self, question: Question) -> int:
        """The tokens of the prompt without history and sources."""
        bare = self._build_prompt(replace(question, history=()), Context(SearchQuery(question.text), question.mode))
        return count_prompt_tokens(self.runtime, bare)
