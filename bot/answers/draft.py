"""An answer in the making, and what is to be said below it of where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot import texts
from bot.answers import footer
from bot.answers.history import History
from bot.answers.sources.attribution import find_used_keys, is_fully_cited
from bot.platform.events import QuestionAsked
from bot.platform.models import AnswerFooter
from bot.store.models import passage_key
from engine import Scope

if TYPE_CHECKING:
    from bot.answers.request import AnswerRequest
    from bot.context import BotContext
    from bot.permissions.provenance import Provenance
    from bot.platform.models import Channel
    from bot.platform.traits import PlatformTraits
    from bot.store import AnswerSource
    from engine import Source, Usage


@dataclass(slots=True)
class AnswerDraft:
    """An answer in the making. `channel` is None if its facts cannot be had; `failed`: it is a sentence why not.

    `silent`: nothing was shown of the answer to an overheard message, and nothing is to be. `gap`: why it may draw on
    less than its readers can read (Reach.gap). `facts`: the keys of what stands behind the facts of the graph that a
    model was shown. `extractive`: no model wrote it.
    """

    request: AnswerRequest
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
    usage: tuple[Usage, ...] = ()
    notices: list[str] = field(default_factory=list)
    gap: str = ""
    failed: bool = False
    silent: bool = False

    @property
    def is_private(self) -> bool:
        """Whether only the asker reads it."""
        return self.request.private or (self.channel is not None and self.channel.kind == "direct")

    @property
    def used_source_keys(self) -> frozenset[str]:
        """The keys of the documents and messages that it used."""
        if not self.sources and texts.is_nothing_found(self.text):
            return frozenset()
        used = self.graph_used_keys | find_used_keys(
            self.text, self.request.text, self.sources, self.retrieved, self.history.keyed_texts
        )
        explained = self.is_extractive or is_fully_cited(self.text, self.request.text, self.sources)
        return used if explained else used | (self._prompt_keys or self.graph_shown_keys)

    @property
    def shown_source_keys(self) -> frozenset[str]:
        """The keys of all that its words may come from, although nothing of it can be recognized there."""
        silent = not self.sources and texts.is_nothing_found(self.text)
        return frozenset() if self.is_extractive or silent else self._prompt_keys | self.graph_shown_keys

    @property
    def _prompt_keys(self) -> frozenset[str]:
        keys = {passage_key(each.document, each.room, each.passage) for each in self.retrieved}
        return self.history.shown_keys.union(keys)

    @property
    def answer_sources(self) -> tuple[AnswerSource, ...]:
        """The sources as they are shown below it."""
        return tuple(footer.build_answer_source(each, self.text) for each in self.sources)


async def build_draft_footer(house: BotContext, draft: AnswerDraft) -> AnswerFooter:
    """What stands below an answer; nothing below a failure."""
    request = draft.request
    if draft.failed:
        return AnswerFooter(request.id)
    notes = [
        _audience_notice(draft),
        await _model_hint(house, draft),
        *draft.notices,
        texts.GAP_NOTICES[draft.gap] if draft.gap and draft.sources else "",
        await _not_indexed_notice(house, draft),
        *_unsupported_notices(draft, house.traits_of(draft.request.location.platform)),
        texts.STILL_INDEXING if await _is_indexing(house, draft) else "",
    ]
    share = bool(draft.sources) and draft.channel is not None and draft.channel.kind != "direct"
    return footer.build_answer_footer(request.id, draft.answer_sources, notes, private=request.private, share=share)


async def _not_indexed_notice(house: BotContext, draft: AnswerDraft) -> str:
    """That the channel is not read, and who can change it: to a command, and where nothing was found."""
    request, channel = draft.request, draft.channel
    if channel is None or channel.kind == "direct" or not request.location.workspace:
        return ""
    if draft.sources and not isinstance(request.origin, QuestionAsked):
        return ""
    switched_on = (await house.get_channel_settings(request.location.room)).ingest
    if switched_on and await house.store.channels.is_announced(request.location.room):
        return ""
    return texts.channel_not_indexed(
        house.traits_of(request.location.platform), inside=channel.has_bot and not switched_on
    )


async def _model_hint(house: BotContext, draft: AnswerDraft) -> str:
    """How a model would be set, below the first quotations that a workspace is given."""
    place, quotes = draft.request.location, bool(draft.sources) and not house.settings.llm_model
    first = quotes and await house.store.hints.record_if_new(place.platform, place.workspace, "model")
    return texts.MODEL_HINT if first else ""


def _audience_notice(draft: AnswerDraft) -> str:
    """For whom it was drawn up, and from what."""
    everybody = texts.channel_content(draft.channel.name) if draft.channel else texts.CHANNEL_CONTENT
    what = texts.ASKER_CONTENT if draft.is_private else everybody
    told = texts.describe_sources(what, found=bool(draft.sources))
    return f"{texts.ONLY_VISIBLE_TO_YOU} {told}" if draft.request.private else told


def _unsupported_notices(draft: AnswerDraft, traits: PlatformTraits) -> list[str]:
    """What is to be said of an answer that nothing stands behind, as far as it does not say so itself.

    The offer of a private answer is the same for every asker: all who read a public answer would learn from it what
    only the asker may read.
    """
    if draft.sources:
        return []
    offer = "" if draft.is_private else texts.ask_privately_hint(traits)
    return ["" if texts.is_nothing_found(draft.text) else texts.NO_SOURCE_FOUND, offer]


async def _is_indexing(house: BotContext, draft: AnswerDraft) -> bool:
    """Whether the past of the room is still being read, or what a vain question might have found."""
    if await house.store.backfill_cursors.get_position(draft.request.location.room) is not None:
        return True
    if draft.sources:
        return False
    return (await house.engine_context.engine.get_status(draft.scope)).documents.get("pending", 0) > 0
