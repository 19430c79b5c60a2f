"""An answer in the making, and what is to be said below it of where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot import texts
from bot.answers import footer
from bot.answers.history import Past
from bot.answers.sources.attribution import is_explained, used_keys
from bot.platform.events import Asked
from bot.platform.models import Closing
from bot.store.models import shown_key
from engine.models import Scope

if TYPE_CHECKING:
    from bot.answers.request import Request
    from bot.context import House
    from bot.permissions.provenance import Basis
    from bot.platform.models import Channel
    from bot.store import Drawn
    from engine.models import Source
    from engine.usage import Usage


@dataclass(slots=True)
class Draft:
    """An answer in the making. `channel` is None if its facts cannot be had; `failed`: it is a sentence why not.

    `silent`: nothing was shown of the answer to an overheard message, and nothing is to be. `gap`: why it may draw on
    less than its readers can read (Reach.gap). `facts`: the keys of what stands behind the facts of the graph that a
    model was shown. `extractive`: no model wrote it.
    """

    request: Request
    channel: Channel | None = None
    scope: Scope = Scope(frozenset(), frozenset())  # noqa: RUF009 - frozen
    text: str = ""
    basis: Basis | None = None
    recalled: tuple[Source, ...] = ()
    stated: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    extractive: bool = False
    past: Past = field(default_factory=Past)
    sources: tuple[Source, ...] = ()
    usage: tuple[Usage, ...] = ()
    notes: list[str] = field(default_factory=list)
    gap: str = ""
    failed: bool = False
    silent: bool = False

    @property
    def alone(self) -> bool:
        """Whether only the asker reads it."""
        return self.request.private or (self.channel is not None and self.channel.kind == "direct")

    @property
    def used(self) -> frozenset[str]:
        """The keys of the documents and messages that it used."""
        if not self.sources and texts.says_nothing(self.text):
            return frozenset()
        used = self.stated | used_keys(self.text, self.request.text, self.sources, self.recalled, self.past.told)
        explained = self.extractive or is_explained(self.text, self.request.text, self.sources)
        return used if explained else used | (self._shown or self.facts)

    @property
    def shown(self) -> frozenset[str]:
        """The keys of all that its words may come from, although nothing of it can be recognized there."""
        silent = not self.sources and texts.says_nothing(self.text)
        return frozenset() if self.extractive or silent else self._shown | self.facts

    @property
    def _shown(self) -> frozenset[str]:
        keys = {shown_key(each.document, each.room, each.passage) for each in self.recalled}
        return self.past.shown.union(keys)

    @property
    def cited(self) -> tuple[Drawn, ...]:
        """The sources as they are shown below it."""
        return tuple(footer.drawn(each, self.text) for each in self.sources)


async def below(house: House, draft: Draft) -> Closing:
    """What stands below an answer; nothing below a failure."""
    request = draft.request
    if draft.failed:
        return Closing(request.id)
    notes = [
        _audience(draft),
        await _hint(house, draft),
        *draft.notes,
        texts.GAPS[draft.gap] if draft.gap and draft.sources else "",
        await _unread(house, draft),
        *_doubts(draft),
        texts.STILL_READING if await _reads(house, draft) else "",
    ]
    share = bool(draft.sources) and draft.channel is not None and draft.channel.kind != "direct"
    return footer.closing(request.id, draft.cited, notes, private=request.private, share=share)


async def _unread(house: House, draft: Draft) -> str:
    """That the channel is not read, and who can change it: to a command, and where nothing was found."""
    request, channel = draft.request, draft.channel
    if channel is None or channel.kind == "direct" or not request.place.workspace:
        return ""
    if draft.sources and not isinstance(request.origin, Asked):
        return ""
    switched_on = (await house.store.channels.get(request.place.room)).ingest
    if switched_on and await house.store.rooms.announced(request.place.room):
        return ""
    return texts.unread_here(request.place.platform, inside=channel.inside and not switched_on)


async def _hint(house: House, draft: Draft) -> str:
    """How a model would be set, below the first quotations that a workspace is given."""
    place, quotes = draft.request.place, bool(draft.sources) and not house.settings.model
    first = quotes and await house.store.hints.first(place.platform, place.workspace, "model")
    return texts.MODEL_HINT if first else ""


def _audience(draft: Draft) -> str:
    """For whom it was drawn up, and from what."""
    everybody = texts.all_of(draft.channel.name) if draft.channel else texts.HERE
    what = texts.YOURS if draft.alone else everybody
    told = texts.drawn_from(what, found=bool(draft.sources))
    return f"{texts.ONLY_YOU} {told}" if draft.request.private else told


def _doubts(draft: Draft) -> list[str]:
    """What is to be said of an answer that nothing stands behind, as far as it does not say so itself.

    The offer of a private answer is the same for every asker: all who read a public answer would learn from it what
    only the asker may read.
    """
    if draft.sources:
        return []
    offer = "" if draft.alone else texts.ask_alone(draft.request.place.platform)
    return ["" if texts.says_nothing(draft.text) else texts.UNSUPPORTED, offer]


async def _reads(house: House, draft: Draft) -> bool:
    """Whether the past of the room is still being read, or what a vain question might have found."""
    if await house.store.cursors.of(draft.request.place.room) is not None:
        return True
    if draft.sources:
        return False
    return (await house.desk.engine.status(draft.scope)).documents.get("pending", 0) > 0
