"""Language model behind litellm: extraction, query rewriting, summaries and answers."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import structlog

from engine.errors import PROVIDER_ERRORS, TEXT_ERRORS, InvalidReply, ModelError, ModelTimeout, NothingGiven
from engine.llm.base import hash_parts
from engine.llm.client.client import OUTPUT_LIMIT_HINT, ChatRequest, ModelClient
from engine.llm.formats import shared_calls
from engine.llm.formats.json_extraction import brings_event, is_addressed_to_bot, parse_search_query
from engine.llm.formats.outcomes import Outcome, judge_text, judge_words
from engine.llm.formats.proposed_filters import parse_filtered_query
from engine.llm.formats.row_repair import ENTITY_TYPES
from engine.llm.offline.extraction import extract_by_rules
from engine.llm.offline.model import rules_key
from engine.llm.prompts import (
    SUMMARY_PROMPTS,
    TEXT_LANGUAGE,
    ExtractionFormat,
    fill_template,
    hash_prompts,
    list_answer_rules,
    render_answer,
    render_event,
    render_extract,
    render_extract_batch,
    render_filter_rules,
    render_glean,
    render_query_rewrite,
    render_summarize,
    render_summarize_batch,
)
from engine.llm.replies.extraction import Extractor, Gleaning, GleaningRule
from engine.llm.replies.texts import EVENT_KEYS, QUERY_KEYS, JudgedCalls
from engine.llm.wire.answer_text import AnswerText
from engine.llm.wire.echoed_prompt import SentPrompt
from engine.options import ContextWindow
from engine.scheduling.feature_breaker import FeatureBreaker

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence
    from datetime import date

    from engine.llm.base import EventRequest, RewriteRequest
    from engine.llm.client.client import Completion
    from engine.llm.config import ModelConfig
    from engine.models import ChatTurn, Excerpt, Extraction, LLMMessage, Prompt, SearchQuery, SummaryInput
    from engine.usage import Purpose, RulesExtract, UsageMeter

log = structlog.get_logger(__name__)

# Part of the cache key of extractions. Raise it when the parsers extract something else from the same reply.
PARSER_VERSION = 5
MAX_MIXED_REPLIES = 3  # after this many unreliable shared replies in a row, each excerpt gets its own call
MAX_UNSHARED = 10_000
RETRY_SECONDS = 3600.0, 86_400.0  # until what a model could not do is tried again; at most


@dataclass(frozen=True, slots=True)
class LLMConfig:
    """Models and extraction settings; `extraction_model` (also summarizes) and `query_model` default to `answer_model`.

    `gleaning` says whether an excerpt gets a second pass: `auto` if at least `gleaning_threshold` entities and
    relations were found in it, or `shared_gleaning_threshold` if it shared its call (docs/benchmarks.md says why).
    `batch_token_limit` counts tokens of excerpts that share a call, 0 for none; `context_window` is that of the model
    that answers, and of the others unless they have their own; `description_language` is that of the descriptions;
    extraction may use the types in `entity_types`. `rules_extract`: what a `PartlyRuledModel` leaves to rules.
    """

    answer_model: ModelConfig
    extraction_model: ModelConfig | None = None
    query_model: ModelConfig | None = None
    extraction_format: ExtractionFormat = "tuples"
    rules_extract: RulesExtract = "nothing"
    gleaning: Gleaning = "auto"
    gleaning_threshold: int = 10
    shared_gleaning_threshold: int = 50
    batch_token_limit: int = 1600
    context_window: ContextWindow = field(default_factory=ContextWindow)
    extraction_window: ContextWindow | None = None
    query_window: ContextWindow | None = None
    description_language: str = TEXT_LANGUAGE
    entity_types: tuple[str, ...] = ENTITY_TYPES


@dataclass(slots=True)
class LiteLLMModel:
    """Implements `LanguageModel`. `count_tokens` counts o200k_base tokens."""

    config: LLMConfig
    client: ModelClient
    count_tokens: Callable[[str], int]
    _extractor: Extractor = field(init=False)
    _calls: JudgedCalls = field(init=False)
    _shared_extraction: FeatureBreaker = field(init=False)
    _shared_summaries: FeatureBreaker = field(init=False)
    _unmixed_replies: FeatureBreaker = field(init=False)
    _unshared: set[bytes] = field(default_factory=set)  # summaries of shared calls that failed, until they succeed

    def __post_init__(self) -> None:
        clock = self.client.clock
        self._extractor = self._build_extractor()
        self._calls = JudgedCalls(self._complete_chat, self._observe)
        self._shared_extraction = FeatureBreaker(clock, 1, *RETRY_SECONDS)
        self._shared_summaries = FeatureBreaker(clock, 1, *RETRY_SECONDS)
        self._unmixed_replies = FeatureBreaker(clock, MAX_MIXED_REPLIES, *RETRY_SECONDS)

    @property
    def name(self) -> str:
        chosen = self.config
        models = (
            f"answer={chosen.answer_model.name} extract={self._extraction_model.name} keywords={self._query_model.name}"
        )
        return f"llm {models} {self._extraction_settings()} prompts={hash_prompts()}"

    @property
    def summary_model(self) -> str:
        return f"llm {self._extraction_model.name} prompts={hash_prompts(*SUMMARY_PROMPTS)}"

    @property
    def is_extractive(self) -> bool:
        return False

    def extraction_key(self, excerpt: Excerpt) -> bytes:
        chosen = self.config.extraction_format
        messages = [*self._extraction_messages(excerpt, chosen), *render_glean("", chosen)]
        head = (self._extraction_model.name, self._extraction_settings(), str(PARSER_VERSION))
        return hash_parts((*head, *(text for message in messages for text in (message.role, message.content))))

    async def extract(self, excerpt: Excerpt, meter: UsageMeter) -> Extraction:
        return await self._extractor.extract(excerpt, meter)

    @property
    def batch_token_limit(self) -> int:
        window, most = self._find_window("extract"), self.config.batch_token_limit
        most = min(most, window.max_excerpt_tokens) if window.size else most
        return most if self._shared_extraction.is_closed and self._unmixed_replies.is_closed else 0

    async def extract_batch(self, excerpts: Sequence[Excerpt], meter: UsageMeter) -> list[Extraction | None]:
        """Extract from all excerpts in one call; None for each excerpt that must be extracted alone.

        A timeout, or replies that mix up the excerpts, set `batch_token_limit` to 0 for some hours.
        """
        unreliable: list[Extraction | None] = [None] * len(excerpts)
        messages = render_extract_batch(excerpts, *self._extraction_prompt_options(self.config.extraction_format))
        try:
            reply = await self._call_extractor(messages, self.config.extraction_format, meter)
        except TEXT_ERRORS:
            return unreliable
        except ModelTimeout:
            self._shared_extraction.record_refusal()
            return unreliable
        self._shared_extraction.record_success()
        readings = self._extractor.read_shared(reply, excerpts)
        if not readings:
            self._unmixed_replies.record_refusal()
            return unreliable
        self._unmixed_replies.record_success()
        return await self._extractor.glean_shared(readings, excerpts, meter)

    async def rewrite_query(
        self, text: str, history: Sequence[ChatTurn], meter: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery:
        return parse_search_query(await self._condense(render_query_rewrite(text, history, today, asker), meter), text)

    async def rewrite_unaddressed_query(
        self, text: str, history: Sequence[ChatTurn], meter: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery | None:
        rules = fill_template("overheard")
        try:
            reply = await self._condense(render_query_rewrite(text, history, today, asker, rules), meter)
        except NothingGiven as error:  # without a clear yes, a message is not for the bot
            log.warning("llm.overheard_not_judged", error=f"nothing given: {error.outcome}")
            return None
        return parse_search_query(reply, text) if is_addressed_to_bot(reply) else None

    async def rewrite_query_with_filters(self, request: RewriteRequest, meter: UsageMeter) -> SearchQuery:
        asked = request.text, request.history, request.today, request.asker, render_filter_rules(request.today)
        return parse_filtered_query(await self._condense(render_query_rewrite(*asked), meter), request.text)

    async def judge_event(self, request: EventRequest, meter: UsageMeter) -> bool:
        return brings_event(await self._condense(render_event(request.awaited, request.messages), meter, EVENT_KEYS))

    async def summarize(self, inputs: Sequence[SummaryInput], meter: UsageMeter) -> list[str | None]:
        """Summarize all in one call if there are several; what the reply lacks gets its own call."""
        found = await self._summarize_together(inputs, meter)
        alone = [place for place in range(len(inputs)) if place not in found]
        calls = (self._summarize_one(inputs[place], meter) for place in alone)
        failures = list[ModelError]()
        for place, outcome in zip(alone, await asyncio.gather(*calls, return_exceptions=True), strict=True):
            if isinstance(outcome, ModelError):
                failures.append(outcome)
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                found[place] = outcome
        if failures and not found:
            raise failures[0]
        return [found.get(place) for place in range(len(inputs))]

    def build_answer_messages(self, prompt: Prompt) -> list[LLMMessage]:
        return render_answer(prompt)

    async def answer(self, prompt: Prompt, meter: UsageMeter) -> AsyncGenerator[str, None]:
        model = self.config.answer_model.with_model(prompt.model)
        known, has_text = self.client.thinking_models, False
        thinking = known.open_filter(model)
        thoughts = self.client.limit_thinking(model.model)
        overview = prompt.context.overview
        days = f"{overview.days}\n\n" if overview and overview.days else ""
        request = ChatRequest(model, "answer", self.build_answer_messages(prompt))
        self._check_prompt_length(request)
        shown = AnswerText(SentPrompt(list_answer_rules(), [message.content for message in request.messages]))
        try:
            async with aclosing(self.client.stream(request, meter)) as deltas:
                async for delta in deltas:
                    text = shown.feed(thinking.feed(delta))
                    may_think = known.may_be_thinking(model)
                    if text or (delta.strip() and thinking.holds_text(may_think=may_think)):
                        thoughts.record_text()
                    else:
                        thoughts.record_thought()
                    if text:
                        yield text if has_text else f"{days}{text}"
                        has_text = True
        except ModelError:
            held = shown.feed(thinking.finish(hide_head=known.may_be_thinking(model))) + shown.finish()
            if held.strip():  # what came before the stream broke
                yield held if has_text else f"{days}{held}"
            raise
        cut_off = any(item.cut_off for item in meter.items)
        known.record_answer(model, thinking, is_whole=not cut_off)
        rest = shown.feed(thinking.finish(hide_head=cut_off and known.may_be_thinking(model))) + shown.finish()
        if rest:
            yield rest if has_text else f"{days}{rest}"
        elif not has_text and shown.is_echo:
            raise InvalidReply(f"{model.model} repeated its prompt without an answer.")
        elif not has_text:
            raise InvalidReply(
                f"{model.model} ended its thinking without an answer.", hint=OUTPUT_LIMIT_HINT if cut_off else ""
            )

    @property
    def _extraction_model(self) -> ModelConfig:
        return self.config.extraction_model or self.config.answer_model

    @property
    def _query_model(self) -> ModelConfig:
        return self.config.query_model or self.config.answer_model

    async def _summarize_one(self, inputs: SummaryInput, meter: UsageMeter) -> str:
        request = ChatRequest(self._extraction_model, "summarize", render_summarize(inputs))
        text = (await self._calls.write_text(request, meter)).strip()
        self._unshared.discard(_summary_key(inputs))
        return text

    async def _summarize_together(self, inputs: Sequence[SummaryInput], meter: UsageMeter) -> dict[int, str]:
        """Summaries by position from one call, without those of a call that failed, since one of them may be at fault.

        Raises the error of a call that is no reply to its texts; its summaries are then made alone.
        """
        shared = [place for place, each in enumerate(inputs) if _summary_key(each) not in self._unshared]
        if len(shared) < 2 or not self._shared_summaries.is_closed:
            return {}
        try:
            found = await self._summarize_batch([inputs[place] for place in shared], meter)
        except ModelError as error:
            if not isinstance(error, PROVIDER_ERRORS):
                if len(self._unshared) >= MAX_UNSHARED:
                    self._unshared.clear()  # many are of texts that are gone
                self._unshared.update(_summary_key(inputs[place]) for place in shared)
            raise
        return {shared[index]: text for index, text in found.items()}

    async def _summarize_batch(self, inputs: Sequence[SummaryInput], meter: UsageMeter) -> dict[int, str]:
        """Summaries by position from one call; empty if it is too much for the model. Paused for slow models."""
        try:
            request = ChatRequest(self._extraction_model, "summarize", render_summarize_batch(inputs))
            reply = await self._complete_chat(request, meter)
        except TEXT_ERRORS:
            return {}
        except ModelTimeout:
            self._shared_summaries.record_refusal()
            return {}
        self._shared_summaries.record_success()
        texts = shared_calls.parse_summaries(reply.text, len(inputs))
        self._observe("summarize", Outcome.FACTS if texts else judge_words(reply.text.strip()))
        return {number - 1: text for number, text in texts.items() if judge_text(text) is Outcome.FACTS}

    def _extraction_settings(self) -> str:
        chosen = self.config
        types = "" if chosen.entity_types == ENTITY_TYPES else f" types={','.join(chosen.entity_types)}"
        language = chosen.description_language
        return f"format={chosen.extraction_format} gleaning={chosen.gleaning} language={language}{types}"

    def _extraction_messages(self, excerpt: Excerpt, output_format: ExtractionFormat) -> list[LLMMessage]:
        return render_extract(excerpt, *self._extraction_prompt_options(output_format))

    def _extraction_prompt_options(
        self, output_format: ExtractionFormat
    ) -> tuple[ExtractionFormat, str, tuple[str, ...]]:
        return output_format, self.config.description_language, self.config.entity_types

    def _build_extractor(self) -> Extractor:
        return Extractor(
            self._extraction_model.model,
            self.config.extraction_format,
            GleaningRule(self.config.gleaning, self.config.gleaning_threshold, self.config.shared_gleaning_threshold),
            self._extraction_messages,
            self._call_extractor,
            partial(self._observe, "extract"),
            self._exceeds_tokens,
        )

    def _observe(self, purpose: Purpose, outcome: Outcome) -> None:
        self.client.observers.outcome(purpose, outcome)

    async def _call_extractor(
        self, messages: Sequence[LLMMessage], output_format: ExtractionFormat, meter: UsageMeter
    ) -> Completion:
        json = output_format == "json"
        return await self._complete_chat(ChatRequest(self._extraction_model, "extract", messages, json), meter)

    async def _condense(
        self, messages: Sequence[LLMMessage], meter: UsageMeter, keys: frozenset[str] = QUERY_KEYS
    ) -> str:
        request = ChatRequest(self._query_model, "condense", messages, json=True)
        return await self._calls.write_object(request, meter, keys)

    async def _complete_chat(self, request: ChatRequest, meter: UsageMeter) -> Completion:
        self._check_prompt_length(request)
        return await self.client.complete_reply(request, meter)

    def _check_prompt_length(self, request: ChatRequest) -> None:
        """Raise PromptTooLong, before sending, for a prompt that does not fit the context window."""
        window = self._find_window(request.purpose)
        if window.size and self._exceeds_tokens(window.size - window.reply_tokens, request.messages):
            window.check_prompt_size(
                sum(self.count_tokens(message.content) for message in request.messages), request.model.model
            )

    def _find_window(self, purpose: Purpose) -> ContextWindow:
        """The context window of the model of a call."""
        extraction, query = self.config.extraction_window, self.config.query_window
        own = {"extract": extraction, "summarize": extraction, "condense": query}
        return own.get(purpose) or self.config.context_window

    def _exceeds_tokens(self, tokens: int, messages: Sequence[LLMMessage]) -> bool:
        """Whether the messages have more tokens; tokens are counted only if there are more bytes than that."""
        texts = [message.content for message in messages]
        return sum(len(text.encode()) for text in texts) > tokens and sum(map(self.count_tokens, texts)) > tokens


def _summary_key(inputs: SummaryInput) -> bytes:
    return hash_parts((inputs.name, *inputs.texts))


class PartlyRuledModel(LiteLLMModel):
    """A `LiteLLMModel`, except for the excerpts that `LLMConfig.rules_extract` names."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return f"{super().name} rules={self.config.rules_extract}"

    def extraction_key(self, excerpt: Excerpt) -> bytes:
        return rules_key(excerpt) if self._is_for_rules(excerpt) else super().extraction_key(excerpt)

    async def extract(self, excerpt: Excerpt, meter: UsageMeter) -> Extraction:
        if self._is_for_rules(excerpt):
            return await asyncio.to_thread(extract_by_rules, excerpt)
        return await super().extract(excerpt, meter)

    @property
    def batch_token_limit(self) -> int:
        return 0 if self.config.rules_extract == "everything" else super().batch_token_limit

    async def extract_batch(self, excerpts: Sequence[Excerpt], meter: UsageMeter) -> list[Extraction | None]:
        """Extract from those that a model reads in one call; None for each excerpt that must be extracted alone."""
        rest = [excerpt for excerpt in excerpts if not self._is_for_rules(excerpt)]
        found = iter(await super().extract_batch(rest, meter) if len(rest) > 1 else [None] * len(rest))
        return [None if self._is_for_rules(excerpt) else next(found) for excerpt in excerpts]

    def _is_for_rules(self, excerpt: Excerpt) -> bool:
        chosen = self.config.rules_extract
        return chosen == "everything" or (chosen == "conversations" and excerpt.is_conversation)
