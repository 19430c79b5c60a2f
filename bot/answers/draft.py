"""An answer in progress, and the notices in its footer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot import texts
from bot.answers import footer
from bot.answers.contradictions.finding import list_coverage_notices
from bot.answers.footer import GraphKeys, find_used_keys, is_fully_cited
from bot.answers.history import History
from bot.answers.review.improvements import build_improve_button
from bot.i18n import gettext
from bot.permissions.audience import EMPTY_SCOPE
from bot.platform.events import QuestionAsked
from bot.platform.models import SUGGESTION_ACTION, AnswerFooter, Button
from bot.store import AnswerResult
from bot.store.models import ANSWER_KINDS, CLOSEST_KEY, UNSEARCHED_KEY, passage_key, verified_key
from bot.text.times.as_of import describe_as_of
from bot.texts import control as control_texts
from bot.texts.search_notices import describe_inferred_filters, is_closest

if TYPE_CHECKING:
    from bot.answers.question import AnswerRequest
    from bot.answers.suggestions.finder import Suggestion
    from bot.context import BotContext
    from bot.permissions.provenance import Provenance
    from bot.platform.models import Channel, Location
    from bot.store import AnswerSource, VerifiedAnswer
    from engine import Context, Question, Scope, Source, Usage
    from engine.models import InferredFilters


ADVICE_HINT = "private question"  # name of the hint to ask in private
NO_HISTORY, NO_GRAPH_KEYS = History(), GraphKeys()


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """What was asked: the request, and what its question to the engine was built from.

    `channel`: None if it could not be looked up. `question`: without the history before it; None until it is built.
    `gap`: why the scope may be smaller than what its readers can read (as in ResolvedScope).
    """

    request: AnswerRequest
    channel: Channel | None = None
    question: Question | None = None
    gap: str = ""
    history: History = NO_HISTORY

    @property
    def scope(self) -> Scope:
        """The scope of the question; empty until it is built."""
        return self.question.scope if self.question is not None else EMPTY_SCOPE


@dataclass(frozen=True, slots=True)
class FoundEvidence:
    """What was found: by the engine (`context`), or a verified answer that is repeated.

    `provenance`: what its readers must be able to read. `sources`: those that the text cites. `is_extractive`: no model
    wrote the text. `graph_keys`: the keys of the passages behind the graph facts of the context.
    """

    context: Context | None = None
    provenance: Provenance | None = None
    sources: tuple[Source, ...] = ()
    verified: VerifiedAnswer | None = None
    is_extractive: bool = False
    graph_keys: GraphKeys = NO_GRAPH_KEYS

    @property
    def retrieved(self) -> tuple[Source, ...]:
        """All passages that the engine found."""
        return self.context.sources if self.context is not None else ()

    @property
    def inferred(self) -> InferredFilters | None:
        """The filters that the model saw in the question."""
        return self.context.inferred if self.context is not None else None


@dataclass(frozen=True, slots=True)
class WrittenText:
    """What was written: the text, the notices below it, and what it cost.

    `failed`: the text is an error message. `is_stopped`: somebody stopped it while it was written. `silent`: a message
    that does not mention the bot gets no reply.
    """

    text: str = ""
    notices: tuple[str, ...] = ()
    usage: tuple[Usage, ...] = ()
    failed: bool = False
    is_stopped: bool = False
    silent: bool = False


@dataclass(frozen=True, slots=True)
class AnswerDraft:
    """An answer before it is posted: what was asked, found and written, and questions to ask next."""

    asked: AskedQuestion
    found: FoundEvidence = FoundEvidence()
    written: WrittenText = WrittenText()
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def request(self) -> AnswerRequest:
        """The request that it answers."""
        return self.asked.request

    @property
    def is_supported(self) -> bool:
        """Whether it has a source that says it, or a person verified it."""
        return (bool(self.found.sources) and not self.is_closest) or self.found.verified is not None

    @property
    def is_closest(self) -> bool:
        """Whether it only shows the closest passages, because nothing answers the question."""
        return self.found.verified is None and is_closest(self.written.text)

    @property
    def is_private(self) -> bool:
        """Whether only the asker can read it."""
        channel = self.asked.channel
        return self.request.private or (channel is not None and channel.kind == "direct")

    @property
    def only_reader(self) -> str:
        """Who alone reads it; empty if everyone at its place does."""
        return self.request.person if self.request.private or not self.request.location.channel else ""

    @property
    def used_source_keys(self) -> frozenset[str]:
        """The keys of the documents and messages that the answer, its question and its suggestions used."""
        suggested = frozenset[str]().union(*(suggestion.keys for suggestion in self.suggestions))
        used = self._answer_keys | suggested | self.request.question_keys
        return (used - ANSWER_KINDS) | self._kind_keys  # answers before it were of other kinds

    @property
    def _kind_keys(self) -> frozenset[str]:
        context = self.found.context
        is_unsearched = context is not None and context.mode == "bypass"
        kinds = ((CLOSEST_KEY, self.is_closest), (UNSEARCHED_KEY, is_unsearched))
        return frozenset(key for key, is_kind in kinds if is_kind)

    @property
    def _answer_keys(self) -> frozenset[str]:
        found, text, question = self.found, self.written.text, self.request.text
        if found.verified is not None:
            return found.verified.keys | {verified_key(found.verified.id)}
        if self._found_nothing:
            return frozenset()
        used = found.graph_keys.used | find_used_keys(
            text, question, found.sources, found.retrieved, self.asked.history.keyed_texts
        )
        explained = found.is_extractive or is_fully_cited(text, question, found.sources)
        return used if explained else used | (self._prompt_keys or found.graph_keys.shown)

    @property
    def shown_source_keys(self) -> frozenset[str]:
        """The keys of everything that the text may come from."""
        found = self.found
        if found.verified is not None or found.is_extractive or self._found_nothing:
            return frozenset()
        return (self._prompt_keys | found.graph_keys.shown) - ANSWER_KINDS

    @property
    def _found_nothing(self) -> bool:
        return not self.found.sources and texts.is_nothing_found(self.written.text)

    @property
    def _prompt_keys(self) -> frozenset[str]:
        keys = {passage_key(source.document, source.room, source.passage) for source in self.found.retrieved}
        return self.asked.history.shown_keys.union(keys)

    @property
    def answer_sources(self) -> tuple[AnswerSource, ...]:
        """The sources as shown in the footer."""
        if self.found.verified is not None:
            return self.found.verified.sources
        return tuple(footer.build_answer_source(source, self.written.text) for source in self.found.sources)

    def build_result(self) -> AnswerResult:
        """The answer as it is stored."""
        used = self.found.provenance.source_scope if self.found.provenance else EMPTY_SCOPE
        return AnswerResult(
            self.written.text,
            self.answer_sources,
            self.used_source_keys,
            used.spaces,
            used.rooms,
            self.shown_source_keys,
            tuple(suggestion.text for suggestion in self.suggestions),
        )


async def build_draft_footer(context: BotContext, draft: AnswerDraft) -> AnswerFooter:
    """Build the footer of an answer; failed answers have none."""
    request = draft.request
    if draft.written.failed:
        return AnswerFooter(request.id, buttons=tuple(list_repeat_buttons(draft)))
    notes = [
        describe_as_of(draft.found.context.as_of) if draft.found.context and draft.found.context.as_of else "",
        _audience_notice(draft),
        await _model_hint(context, draft),
        describe_inferred_filters(draft.found.inferred) if draft.found.inferred else "",
        *draft.written.notices,
        *await list_coverage_notices(
            context, draft.found.sources, draft.found.context, request.location, draft.only_reader
        ),
        gettext(texts.GAP_NOTICES[draft.asked.gap]) if draft.asked.gap and draft.is_supported else "",
        await _not_indexed_notice(context, draft),
        *await _unsupported_notices(context, draft),
        gettext(texts.STILL_INDEXING) if await _is_indexing(context, draft) else "",
    ]
    channel = draft.asked.channel
    share = draft.is_supported and channel is not None and channel.kind != "direct"
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
    return replace(built, buttons=tuple(_add_attempt(button, request.attempt) for button in built.buttons))


def _add_attempt(button: Button, attempt: int) -> Button:
    """A button that judges the text of an answer, for this one of several answers to a question."""
    is_judgment = attempt > 0 and button.action in {"up", "down"}
    return replace(button, value=f"{button.value}:{attempt}") if is_judgment else button


def list_repeat_buttons(draft: AnswerDraft) -> list[Button]:
    """The button that asks again, unless the answer is a verified one, which would be the same again."""
    request = draft.request
    if draft.found.verified is not None or not request.can_repeat:
        return []
    return [Button(gettext(control_texts.AGAIN_BUTTON), "again", f"{request.id}:{request.attempt}")]


def list_suggestion_buttons(draft: AnswerDraft) -> list[Button]:
    """The buttons that ask the suggested questions, for everyone who sees the answer."""
    request = draft.request
    return [
        Button(each.text, SUGGESTION_ACTION, f"{request.id}:{request.attempt}:{number}")
        for number, each in enumerate(draft.suggestions)
    ]


async def _not_indexed_notice(context: BotContext, draft: AnswerDraft) -> str:
    """The notice that the channel is not indexed, for commands and answers without sources."""
    request, channel = draft.request, draft.asked.channel
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
    location, quotes = draft.request.location, bool(draft.found.sources) and not context.settings.llm_model
    first = quotes and await context.store.hints.record_if_new(location.platform, location.workspace, "model")
    return gettext(texts.MODEL_HINT) if first else ""


def _audience_notice(draft: AnswerDraft) -> str:
    """Who can see the answer, and which sources were searched."""
    if draft.is_private:
        sources_notice = texts.describe_private_sources(found=draft.is_supported)
    else:
        channel = draft.asked.channel
        sources_notice = texts.describe_sources(channel.name if channel else None, found=draft.is_supported)
    return f"{gettext(texts.ONLY_VISIBLE_TO_YOU)} {sources_notice}" if draft.request.private else sources_notice


async def _unsupported_notices(context: BotContext, draft: AnswerDraft) -> list[str]:
    """The notices of an answer without sources, unless its text says so.

    The hint to ask in private is shown once a day in a channel. It is the same for every asker: otherwise all readers
    of a public answer would learn from it what only the asker may read.
    """
    if draft.is_supported:
        return []
    says_so = draft.is_closest or texts.is_nothing_found(draft.written.text)
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
    return (await context.engine_context.engine.maintenance.get_status(draft.asked.scope)).documents.get(
        "pending", 0
    ) > 0
