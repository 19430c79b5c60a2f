"""The buttons below an answer: thumbs, its sources in full, deleting it, and sharing what only one person saw."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot import texts
from bot.answers import footer
from bot.answers.request import shared_id, spoken
from bot.answers.sources.citation_links import addresses, linked
from bot.errors import NotAllowed, Withheld
from bot.permissions.provenance import basis_of, readable
from bot.platform.models import Card, dated
from bot.platform.ports import Target
from bot.store import Outcome
from bot.text import splitting
from engine.errors import EngineError, NotFound

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.context import House
    from bot.monitoring import Metrics
    from bot.platform.events import Clicked
    from bot.platform.models import Closing
    from bot.platform.ports import Reply
    from bot.store import Drawn, Stored

    Action = Callable[["Clicks", Clicked, Stored], Awaitable[str]]


def _source(drawn: Drawn) -> str:
    """A source as a line that leads to it, and its words."""
    title = dated(drawn.title, drawn.time)
    return f"[{drawn.number}] " + (f"[{title}]({drawn.link})" if drawn.link else title) + f"\n> {drawn.words}"


class Clicks:
    """Does what a button says. Everything may be repeated."""

    def __init__(self, house: House, metrics: Metrics) -> None:
        self.house = house
        self._metrics = metrics

    def knows(self, clicked: Clicked) -> bool:
        """Whether the button is one of those below an answer."""
        return clicked.action in ACTIONS

    async def take(self, clicked: Clicked) -> None:
        """Do it, and tell the person. Raises PlatformError."""
        try:
            stored = await self.house.store.answers.get(clicked.value)
            if stored is None:
                raise NotFound(texts.NO_ANSWER)  # noqa: TRY301 - told below like every other
            said = await ACTIONS[clicked.action](self, clicked, stored)
        except (NotFound, NotAllowed) as error:
            said = str(error)
        except Withheld as error:
            said = texts.failure(error)
        if said:
            target = Target(clicked.value, clicked.place, clicked.person, private=True, handle=clicked.handle)
            await self.house.whisper(target, Card(said))

    async def thumb(self, clicked: Clicked, stored: Stored) -> str:
        """Feedback; whoever says the same again is counted once."""
        if await self.house.store.feedback.put(stored.id, clicked.person, clicked.action == "up"):
            self._metrics.judged(stored.place.platform, clicked.action)
        return texts.THANKS if clicked.action == "up" else texts.SORRY

    async def sources(self, clicked: Clicked, stored: Stored) -> str:
        """The sources of an answer, as far as this person may still read what it rests on."""
        if stored.state != "done" and not stored.sources:
            raise NotFound(texts.NO_ANSWER)
        allowed = await readable(self.house, basis_of(stored), clicked.place, clicked.person)
        if not (allowed and stored.sources):
            return texts.NO_SOURCES
        return "\n".join(map(_source, stored.sources))

    async def delete(self, clicked: Clicked, stored: Stored) -> str:
        """Delete an answer, where it stands and where it is kept; the asker may, and a manager."""
        if clicked.person != stored.asker and not await self._manages(clicked):
            raise NotAllowed(texts.NOT_YOURS)
        if stored.private:
            raise NotFound(texts.NO_ANSWER)  # nobody else saw it, and what the asker saw alone cannot be taken back
        await self.house.platform(stored.place).delete_answer(_target(stored, stored.mark))
        await self.house.store.answers.drop(stored.id)
        return ""

    async def share(self, clicked: Clicked, stored: Stored) -> str:
        """Show all readers of the channel what only the asker saw, if each of them could read all it rests on."""
        if clicked.person != stored.asker:
            raise NotAllowed(texts.NOT_YOURS)
        if stored.state != "done":
            raise NotFound(texts.NO_ANSWER)
        id_ = shared_id(stored.id)
        before = await self.house.store.answers.get(id_)
        if before is not None and before.state != "begun":
            return texts.SHARED
        if before is None and not await self._readable(stored):
            return texts.NOT_SHARED
        shared = replace(stored, id=id_, message="", private=False, state="begun")
        reply = self.house.platform(stored.place).reply(_target(shared, before.mark if before else ""))
        try:
            return await self._publish(stored, shared, reply)
        except Withheld:
            await self.house.store.answers.abandon(id_)
            raise

    async def _publish(self, stored: Stored, shared: Stored, reply: Reply) -> str:
        """Say it again in the channel, as an answer of its own, of which a former run may have shown something."""
        answers, platform = self.house.store.answers, self.house.platform(stored.place)
        below = await self._below(shared)
        await answers.begin(shared)
        if not await self._readable(stored):  # readers may have changed while others were looked at
            await self._unpublish(reply, shared)
            return texts.NOT_SHARED
        try:
            said = linked(stored.text, addresses(stored.sources))
            text = f"{await self._question(stored)}\n\n{said}"
            await reply.finish(splitting.parts(text, platform.limits.part), below)
        finally:
            await answers.mark(shared.id, reply.mark)
        outcome = Outcome(stored.text, stored.sources, stored.documents, stored.spaces, stored.rooms, stored.shown)
        if not await answers.finish(shared.id, outcome):
            await reply.replace(texts.SOURCE_REMOVED)
        return texts.SHARED

    async def _question(self, stored: Stored) -> str:
        """What was asked, for readers who did not see it."""
        place = stored.place
        asker = await self.house.readers.person(place.platform, place.workspace, stored.asker)
        text = await self.house.platform(place).readable(place.workspace, spoken(stored.question))
        return texts.asked_by(asker.name, text)

    async def _unpublish(self, reply: Reply, shared: Stored) -> None:
        """It is not shared after all; what was shown of it is taken back."""
        if reply.mark:
            await reply.replace(texts.WITHDRAWN)
        await self.house.store.answers.drop(shared.id)

    async def _below(self, shared: Stored) -> Closing:
        place = shared.place
        asker = await self.house.readers.person(place.platform, place.workspace, shared.asker)
        channel = await self.house.readers.channel(place)
        notes = [texts.shared_by(asker.name), texts.drawn_from(texts.all_of(channel.name))]
        return footer.closing(shared.id, shared.sources, notes, private=False, share=False)

    async def _readable(self, stored: Stored) -> bool:
        """Whether all readers of its channel may read what an answer rests on, as far as that is sure."""
        return bool(await readable(self.house, basis_of(stored), stored.place))

    async def _manages(self, clicked: Clicked) -> bool:
        place = clicked.place
        try:
            return (await self.house.readers.person(place.platform, place.workspace, clicked.person)).manager
        except EngineError:
            return False


ACTIONS: Mapping[str, Action] = {
    "up": Clicks.thumb,
    "down": Clicks.thumb,
    "sources": Clicks.sources,
    "delete": Clicks.delete,
    "share": Clicks.share,
}


def _target(stored: Stored, mark: str) -> Target:
    """Where an answer stands that all see."""
    return Target(stored.id, stored.place, stored.asker, stored.message, mark=mark, asked=stored.time)
