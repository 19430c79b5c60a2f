"""An answer in progress, and the notices in its footer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bot import texts
from bot.answers import footer
from bot.answers.attribution import find_used_keys, is_fully_cited
from bot.answers.history import History
from bot.answers.review.improvements import build_improve_button
from bot.i18n import gettext
from bot.monitoring.traces import QuestionJourney
from bot.platform.events import QuestionAsked
from bot.platform.models import SUGGESTION_ACTION, AnswerFooter, Button
from bot.store import AnswerResult
from bot.store.models import CLOSEST_KEY, passage_key, verified_key
from bot.texts import control as control_texts
from bot.texts.inferred_filters import describe_inferred_filters
from bot.texts.search_notices import is_closest
from engine import Scope

if TYPE_CHECKING:
    from bot.answers.request import AnswerRequest
    from bot.context import BotContext
    from bot.permissions.provenance import Provenance
    from bot.platform.models import Channel, Location
    from bot.store import AnswerSource, VerifiedAnswer
    from engine import Clock, Context, Question, Source, Usage
    from engine.models import InferredFilters


ADVICE_HINT = "private question"  # name of the hint to ask in private


@dataclass(slots=True)
class AnswerDraft:
    """An answer that is being written; `channel` is None if it could not be looked up.

    `failed`: `text` is an error message. `is_stopped`: somebody stopped it while it was written. `silent`: a message
    that does not mention the bot gets no reply. `gap`: why the scope may be smaller than what its readers can read (as
    in ResolvedScope). `graph_shown_keys`: the keys of the passages behind the graph facts that a model was shown.
    `is_extractive`: no model wrote it. `verified`: the verified answer that it repeats. `inferred`: the filters that
    the model saw in the question. `question`, `context`: what the engine was asked, without history, and what it
    retrieved. `suggestions`: questions to ask next, with the keys of what they rest on. `received_at`: when the
    question came to the handler, in seconds since 1970.
    """

    request: AnswerRequest
    received_at: float
    channel: Channel | None = None
    scope: Scope = Scope(frozenset(), frozenset())  # noqa: RUF009 - frozen
    text: str = ""
    provenance: Provenance | None = None
    retrieved: tuple[Source, ...] = ()
    graph_used_keys: frozenset[str] = frozenset()
    graph_shown_keys: frozenset[str] = frozenset()
    is_extractive: bool = False
    history: History = field(default_factory=History)
    sources: tuple[Source, ...] = ()
    verified: VerifiedAnswer | None = None
    question: Question | None = None
    context: Context | None = None
    suggestions: tuple[str, ...] = ()
    suggestion_keys: frozenset[str] = frozenset()
    usage: tuple[Usage, ...] = ()
    notices: list[str] = field(default_factory=list)
    inferred: InferredFilters | None = None
    gap: str = ""
    failed: bool = False
    is_stopped: bool = False
    silent: bool = False
    journey: QuestionJourney = field(init=False)

    def __post_init__(self) -> None:
        request = self.request
        asked_at, platform = request.time.timestamp(), request.location.platform
        self.journey = QuestionJourney(request.reference, platform, asked_at, self.received_at)

    def stop(self, note: str) -> None:
        """End the answer where it is, with a note; `failed` if nothing of it was written."""
        text = self.text.rstrip()
        self.failed = not text
        self.text = f"{text}\n\n_{note}_" if text else f"_{note}_"
        self.is_stopped, self.silent = True, False

    def end_journey(self, first_shown_at: float | None, clock: Clock) -> QuestionJourney:
        """The journey of the question once its answer is posted; `first_shown_at`: in monotonic time."""
        journey = self.journey
        journey.posted_at = clock.time()
        if first_shown_at is not None:
            journey.first_word_at = journey.posted_at - (clock.monotonic() - first_shown_at)
        journey.sources = len(self.sources)
        journey.input_tokens = sum(each.input_tokens for each in self.usage)
        journey.output_tokens = sum(each.output_tokens for each in self.usage)
        return journey

    @property
    def is_supported(self) -> bool:
        """Whether it has a source that says it, or a person verified it."""
        return (bool(self.sources) and not self.is_closest) or self.verified is not None

    @property
    def is_closest(self) -> bool:
        """Whether it only shows the closest passages, because nothing answers the question."""
        return self.verified is None and is_closest(self.text)

    @property
    def is_private(self) -> bool:
        """Whether only the asker can read it."""
        return self.request.private or (self.channel is not None and self.channel.kind == "direct")

    @property
    def used_source_keys(self) -> frozenset[str]:
        """The keys of the documents and messages that the answer, its question and its suggestions used."""
        kind = frozenset({CLOSEST_KEY}) if self.is_closest else frozenset[str]()
        return self._answer_keys | self.suggestion_keys | self.request.question_keys | kind

    @property
    def _answer_keys(self) -> frozenset[str]:
        if self.verified is not None:
            return self.verified.keys | {verified_key(self.verified.id)}
        if not self.sources and texts.is_nothing_found(self.text):
            return frozenset()
        used = self.graph_used_keys | find_used_keys(
            self.text, self.request.text, self.sources, self.retrieved, self.history.keyed_texts
        )
        explained = self.is_extractive or is_fully_cited(self.text, self.request.text, self.sources)
        return used if explained else used | (self._prompt_keys or self.graph_shown_keys)

    @property
    def shown_source_keys(self) -> frozenset[str]:
        """The keys of everything that the text may come from."""
        if self.verified is not None:
            return frozenset()
        silent = not self.sources and texts.is_nothing_found(self.text)
        return frozenset() if self.is_extractive or silent else self._prompt_keys | self.graph_shown_keys

    @property
    def _prompt_keys(self) -> frozenset[str]:
        keys = {passage_key(each.document, each.room, each.passage) for each in self.retrieved}
        return self.history.shown_keys.union(keys)

    @property
    def answer_sources(self) -> tuple[AnswerSource, ...]:
        """The sources as shown in the footer."""
        if self.verified is not None:
            return self.verified.sources
        return tuple(footer.build_answer_source(each, self.text) for each in self.sources)

    def build_result(self) -> AnswerResult:
        """The answer as it is stored."""
        drawn = self.provenance.source_scope if self.provenance else Scope(frozenset(), frozenset())
        return AnswerResult(
            self.text,
            self.answer_sources,
            self.used_source_keys,
            drawn.spaces,
            drawn.rooms,
            self.shown_source_keys,
            self.suggestions,
        )


async def build_draft_footer(context: BotContext, draft: AnswerDraft) -> AnswerFooter:
    """Build the footer of an answer; failed answers have none."""
    request = draft.request
    if draft.failed:
        return AnswerFooter(request.id, buttons=tuple(list_repeat_buttons(draft)))
    notes = [
        _audience_notice(draft),
        await _model_hint(context, draft),
        describe_inferred_filters(draft.inferred) if draft.inferred else "",
        *draft.notices,
        gettext(texts.GAP_NOTICES[draft.gap]) if draft.gap and draft.is_supported else "",
        await _not_indexed_notice(context, draft),
        *await _unsupported_notices(context, draft),
        gettext(texts.STILL_INDEXING) if await _is_indexing(context, draft) else "",
    ]
    share = draft.is_supported and draft.channel is not None and draft.channel.kind != "direct"
    built = footer.build_answer_footer(
        request.id,
        draft.answer_sources,
        notes,
        private=request.private,
        share=share,
        further=[
            build_improve_button(request.id, request.attempt, can_repeat=request.can_repeat),
            *list_suggestion_buttons(draft),
        ],
    )
    return replace(built, buttons=tuple(_add_attempt(each, request.attempt) for each in built.buttons))


def _add_attempt(button: Button, attempt: int) -> Button:
    """A button that judges the text of an answer, for this one of several answers to a question."""
    is_judgment = attempt > 0 and button.action in {"up", "down"}
    return replace(button, value=f"{button.value}:{attempt}") if is_judgment else button


def list_repeat_buttons(draft: AnswerDraft) -> list[Button]:
    """The button that asks again, unless the answer is a verified one, which would be the same again."""
    request = draft.request
    if draft.verified is not None or not request.can_repeat:
        return []
    return [Button(gettext(control_texts.AGAIN_BUTTON), "again", f"{request.id}:{request.attempt}")]


def list_suggestion_buttons(draft: AnswerDraft) -> list[Button]:
    """The buttons that ask the suggested questions, for everyone who sees the answer."""
    request = draft.request
    return [
        Button(text, SUGGESTION_ACTION, f"{request.id}:{request.attempt}:{number}")
        for number, text in enumerate(draft.suggestions)
    ]


async def _not_indexed_notice(context: BotContext, draft: AnswerDraft) -> str:
    """The notice that the channel is not indexed, for commands and answers without sources."""
    request, channel = draft.request, draft.channel
    if channel is None or channel.kind == "direct" or not request.location.workspace:
        return ""
    if draft.is_supported and not isinstance(request.origin, QuestionAsked):
        return ""
    switched_on = (await context.get_channel_settings(request.location.room)).ingest
    if switched_on and await context.store.channels.is_announced(request.location.room):
        return ""
    return texts.channel_not_indexed(
        context.traits_of(request.location.platform), inside=channel.has_bot and not switched_on
    )


async def _model_hint(context: BotContext, draft: AnswerDraft) -> str:
    """How to set a language model, in a workspace's first extractive answers."""
    location, quotes = draft.request.location, bool(draft.sources) and not context.settings.llm_model
    first = quotes and await context.store.hints.record_if_new(location.platform, location.workspace, "model")
    return gettext(texts.MODEL_HINT) if first else ""


def _audience_notice(draft: AnswerDraft) -> str:
    """Who can see the answer, and which sources were searched."""
    if draft.is_private:
        sources_notice = texts.describe_private_sources(found=draft.is_supported)
    else:
        sources_notice = texts.describe_sources(draft.channel.name if draft.channel else None, found=draft.is_supported)
    return f"{gettext(texts.ONLY_VISIBLE_TO_YOU)} {sources_notice}" if draft.request.private else sources_notice


async def _unsupported_notices(context: BotContext, draft: AnswerDraft) -> list[str]:
    """The notices of an answer without sources, unless its text says so.

    The hint to ask in private is shown once a day in a channel. It is the same for every asker: otherwise all readers
    of a public answer would learn from it what only the asker may read.
    """
    if draft.is_supported:
        return []
    says_so = draft.is_closest or texts.is_nothing_found(draft.text)
    notice = "" if says_so else gettext(texts.NO_SOURCE_FOUND)
    return [notice, "" if draft.is_private else await _advise(context, draft.request.location)]


async def _advise(context: BotContext, location: Location) -> str:
    """How to ask in private; empty if that was said in the channel today (UTC)."""
    today, place = context.clock.now().date(), (location.platform, location.workspace)
    is_due = await context.store.hints.record_if_due(*place, f"{ADVICE_HINT} {location.channel}", today)
    return texts.ask_privately_hint(context.traits_of(location.platform)) if is_due else ""


async def _is_indexing(context: BotContext, draft: AnswerDraft) -> bool:
    """Whether the history of the room is still being fetched, or pending documents might contain the answer."""
    if await context.store.backfill_cursors.get_position(draft.request.location.room) is not None:
        return True
    if draft.is_supported:
        return False
    return (await context.engine_context.engine.maintenance.get_status(draft.scope)).documents.get("pending", 0) > 0
