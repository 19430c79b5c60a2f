"""Who may verify answers in a channel, managers and its experts, and asking an expert on request."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bot import texts
from bot.answers.review.lookup import QuestionWords
from bot.i18n import gettext, use_language
from bot.permissions.managers import is_workspace_manager
from bot.permissions.provenance import can_read, provenance_of_room
from bot.platform.models import Button, Card, Location
from bot.text.speech.mentions import strip_mention
from bot.texts import review as review_texts
from bot.texts.overviews.readers import explain_reading
from engine.errors import EngineError, ModelError, NotFound

if TYPE_CHECKING:
    from bot.context import BotContext
    from bot.permissions.resolver import AudienceResolver
    from bot.store import Expert, StoredAnswer


MAX_CHOICES = 5  # experts to choose from


async def may_verify(context: BotContext, location: Location, person: str) -> bool:
    """Whether a person is a manager or an expert of a channel, and can read it now; False if that is unknown."""
    try:
        known = await context.audience.get_person_at(location, person)
        if not await can_read_room(context, location.room, location, person):
            return False
        return is_workspace_manager(known) or person in {
            expert.person for expert in await list_experts(context, location)
        }
    except EngineError:
        return False


async def is_manager(context: BotContext, location: Location, person: str) -> bool:
    """Whether a person manages the workspace of a location; False if that is unknown."""
    try:
        return is_workspace_manager(await context.audience.get_person_at(location, person))
    except EngineError:
        return False


async def list_experts(context: BotContext, location: Location) -> list[Expert]:
    """The experts of a channel: those named there, and those of channels that everyone there can read."""
    found = await context.store.experts.list_in_workspace(location.platform, location.workspace)
    rooms = {channel.location.room for channel in found}
    named = {room for room in rooms if room == location.room or await can_read_room(context, room, location)}
    return [channel for channel in found if channel.location.room in named]


async def can_read_room(context: BotContext, room: str, location: Location, person: str = "") -> bool:
    """Whether everyone in a location, or one person there, certainly can read a room."""
    return bool(await check_room(context, room, location, person))


async def explain_room(audience: AudienceResolver, room: str, location: Location, person: str) -> str:
    """Why a person in a location may read a room, in one sentence; empty if they may not, or that is unknown."""
    grant = await audience.find_grant(location, person, room)
    if grant is None:
        return ""
    name = ""
    with suppress(EngineError):
        name = "" if grant.rule == "own" else (await audience.get_channel_info(Location.from_room(room))).name
    return explain_reading(grant.rule, name)


async def check_room(context: BotContext, room: str, location: Location, person: str = "") -> bool | None:
    """Whether everyone in a location, or one person there, can read a room; None if that is unknown."""
    return await can_read(context.audience, provenance_of_room(room), location, person)


class ExpertRequests:
    """Mentions experts. Raises NotFound and PlatformError."""

    def __init__(self, context: BotContext) -> None:
        self._context = context

    async def offer(self, stored: StoredAnswer, person: str) -> Card:
        """Ask the only expert of the question's topic; if that is not clear, let the person choose."""
        ranked = await self._rank(stored, person)
        if not ranked:
            return Card(gettext(review_texts.NO_EXPERT))
        question = set(QuestionWords.parse(stored.question).stems)
        named = {expert.person for expert in ranked if question & set(QuestionWords.parse(expert.topic).stems)}
        if len(named) == 1:
            return Card(await self.ask(stored, named.pop(), person))
        choices: dict[str, Button] = {}
        for expert in ranked:
            label = f"{await self._name(stored, expert.person)} – {expert.topic}"
            choices.setdefault(expert.person, Button(label, "ask-expert", f"{stored.id}:{expert.person}"))
        return Card(gettext(review_texts.CHOOSE_EXPERT), buttons=tuple(choices.values())[:MAX_CHOICES])

    async def ask(self, stored: StoredAnswer, expert: str, person: str) -> str:
        """Mention an expert below a question; returns the sentence for the person who wants it."""
        chosen = [expert_found for expert_found in await self._find(stored, person) if expert_found.person == expert]
        if not chosen:
            return gettext(review_texts.NO_EXPERT)
        experts, name = self._context.store.experts, await self._name(stored, expert)
        refusal = await experts.begin_request(stored.id, chosen[0], person, self._context.clock.time())
        if refusal:
            return gettext(review_texts.EXPERT_REQUEST_REFUSED[refusal])
        platform = self._context.platform_for(stored.location)
        try:
            question = await platform.to_plain_text(stored.location.workspace, strip_mention(stored.question))
            asker = await self._name(stored, person)
            with use_language(await self._context.find_channel_language(stored.location, person)):
                text = review_texts.format_expert_request(asker, question)
            await platform.post(stored.location, Card(text, mentions=(expert,)))
        except BaseException:
            await experts.cancel_request(stored.id, expert)
            raise
        return gettext(review_texts.EXPERT_ASKED).format(name=name)

    async def _find(self, stored: StoredAnswer, person: str) -> list[Expert]:
        """The experts who can be asked by a person: others who can read the channel of the question now."""
        location = stored.location
        if stored.private or stored.state != "done" or not stored.question:
            raise NotFound(gettext(texts.NO_ANSWER))
        if not await can_read_room(self._context, location.room, location, person):
            raise NotFound(gettext(texts.NO_ANSWER))
        found = [expert for expert in await list_experts(self._context, location) if expert.person != person]
        return [candidate for candidate in found if await self._can_be_asked(location, candidate.person)]

    async def _can_be_asked(self, location: Location, person: str) -> bool:
        """Whether a person can read a channel now, and their account is not closed."""
        if not await can_read_room(self._context, location.room, location, person):
            return False
        known = await self._context.audience.get_person_at(location, person)
        return not known.is_deactivated

    async def _rank(self, stored: StoredAnswer, person: str) -> list[Expert]:
        """The experts by the similarity of their topic to the question."""
        found = await self._find(stored, person)
        if len(found) < 2:
            return found
        try:
            similarities = await self._context.engine_context.engine.measure_similarities(
                [stored.question, *(candidate.topic for candidate in found)]
            )
        except ModelError:
            return found
        scores = dict(zip(found, similarities[0][1:].tolist(), strict=True))
        return sorted(found, key=lambda each: -scores[each])

    async def _name(self, stored: StoredAnswer, person: str) -> str:
        location = stored.location
        return (await self._context.audience.get_person_at(location, person)).name
