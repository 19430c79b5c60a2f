"""Whether a message that does not name the bot is meant for it all the same: a follow-up in a thread it answered in."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from bot import texts
from bot.answers.request import spoken
from bot.dispatch.follow_up.question_rules import classify
from bot.errors import PlatformError
from bot.platform.models import Card
from bot.platform.ports import Target

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from bot.answers.history import Historian
    from bot.context import House
    from bot.dispatch.follow_up.question_rules import Verdict
    from bot.platform.models import Message, Place
    from bot.store.models import Known

STOP = frozenset({"stop", "stop.", "stop!", "be quiet", "quiet"})
PEOPLE = 30  # of a thread, whose names are looked for
LATELY = timedelta(days=1)  # in a channel, of whom may be spoken to


class Following:
    """Decides by a channel's setting: `mention` (never), `thread` (questions where it answered), `all` (anywhere)."""

    def __init__(self, house: House, historian: Historian) -> None:
        self._house = house
        self._historian = historian

    async def answers(self, message: Message) -> bool:
        """Whether a message that is not addressed to the bot may be answered: a question to nobody else.

        It is asked by somebody whom the bot answered in that thread. Where there is a model, that has the last word.
        """
        if message.by_bot or message.own or not message.text.strip():
            return False
        if not await self.follows(message.place):
            return False
        if message.text.strip().casefold() in STOP:
            return bool(message.place.thread)
        if classify(message.text) not in self._answered():
            return False
        if await self._chosen(message.place) == "all":
            return await self._is_open(message)
        return await self._continues(message)

    async def follows(self, place: Place) -> bool:
        """Whether what people ask in a place is answered without a mention."""
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
        target = Target("", thread, message.author, message.id)  # where they said so
        await self._house.whisper(target, Card(texts.QUIET))
        return True

    async def _continues(self, message: Message) -> bool:
        """Whether it goes on with an exchange of its author with the bot, and is spoken to nobody of the thread."""
        place = message.place
        askers, latest = await self._historian.exchange(place)
        if message.author not in askers or await self._replies_to_another(message):
            return False
        others = await self._before(message)
        names = await self._names(place, {*askers, *(each.author for each in others)} - {message.author})
        interrupted = latest is not None and any(each.time > latest for each in others)
        return classify(message.text, names, interrupted=interrupted) in self._answered()

    async def _is_open(self, message: Message) -> bool:
        """Whether it is spoken to nobody of the thread, or of those who talked in the channel last."""
        if await self._replies_to_another(message):
            return False
        others = {each.author: None for each in reversed(await self._before(message))}
        names = await self._names(message.place, list(others)[:PEOPLE])
        return classify(message.text, names) in self._answered()

    async def _before(self, message: Message) -> list[Known]:
        """What others said before it in its thread; outside of threads, in the channel lately."""
        place, messages = message.place, self._house.store.messages
        if place.thread:
            said = await messages.of_thread(place.room, place.thread)
        else:
            said = await messages.between(place.room, message.time - LATELY, message.time)
        return [each for each in said if each.author != message.author and each.time < message.time]

    def _answered(self) -> frozenset[Verdict]:
        """What is answered: without a model only what surely is a question."""
        return frozenset({"question", "unclear"} if self._house.settings.model else {"question"})

    async def _replies_to_another(self, message: Message) -> bool:
        """Whether it replies to a message in which no answer stands."""
        answers, replied = self._house.store.answers, message.replies_to
        return bool(replied) and await answers.of_message(message.place.main, replied) is None

    async def _names(self, place: Place, people: Iterable[str]) -> list[str]:
        found = []
        for person in sorted(people)[:PEOPLE]:
            with suppress(PlatformError):
                found.append((await self._house.readers.person(place.platform, place.workspace, person)).name)
        return found

    async def _chosen(self, place: Place) -> Literal["mention", "thread", "all"]:
        channels = self._house.store.channels
        muted = (await channels.get(_key(place))).answers if place.thread else ""
        chosen = muted or (await channels.get(place.room)).answers or self._house.settings.answers
        return cast("Literal['mention', 'thread', 'all']", chosen)


def _key(place: Place) -> str:
    """Where the settings of a thread are kept."""
    return f"{place.room}:{place.thread}"
