"""Whether a message that does not name the bot is meant for it all the same: a follow-up in a thread it answered in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from bot import wording
from bot.asked import begins_with_mention, spoken
from bot.chat import Card
from bot.ports import Target

if TYPE_CHECKING:
    from typing import Literal

    from bot.chat import Message, Place
    from bot.history import Historian
    from bot.house import House

STOP = frozenset({"stop", "stop.", "stop!", "be quiet", "quiet"})


class Following:
    """Decides by a channel's setting: `mention` (never), `thread` (where the bot answered), `all` (everything)."""

    def __init__(self, house: House, historian: Historian) -> None:
        self._house = house
        self._historian = historian

    async def answers(self, message: Message) -> bool:
        """Whether a message that is not addressed to the bot is answered: from people, and to nobody else."""
        if message.by_bot or message.own or not message.text.strip() or begins_with_mention(message.text):
            return False
        return await self.follows(message.place)

    async def follows(self, place: Place) -> bool:
        """Whether what people say in a place is answered without a mention."""
        chosen = await self._chosen(place)
        if chosen == "all" or not place.thread:
            return chosen == "all"
        return chosen == "thread" and await self._historian.spoke(place)

    async def stop(self, message: Message) -> bool:
        """A message to the bot: if it says stop, the bot stays quiet in its thread until it is mentioned."""
        if spoken(message.text).casefold() not in STOP:
            return False
        thread = replace(message.place, thread=message.thread)
        chosen = await self._house.store.channels.get(_key(thread))
        await self._house.store.channels.put(_key(thread), replace(chosen, answers="mention"))
        target = Target("", thread, message.author, message.id)  # where he said so
        await self._house.whisper(target, Card(wording.QUIET))
        return True

    async def _chosen(self, place: Place) -> Literal["mention", "thread", "all"]:
        channels = self._house.store.channels
        muted = (await channels.get(_key(place))).answers if place.thread else ""
        chosen = muted or (await channels.get(place.room)).answers or self._house.settings.answers
        return cast("Literal['mention', 'thread', 'all']", chosen)


def _key(place: Place) -> str:
    """Where the settings of a thread are kept."""
    return f"{place.room}:{place.thread}"
