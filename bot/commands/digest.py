"""Schedule digests: of a channel for everyone in it, or of what one person missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.management.requests import ScheduleChannelDigest, SchedulePersonalDigest
from bot.i18n import gettext
from bot.platform.models import Card
from bot.store.schedules.digests import Digest
from bot.text.format import find_zone_or_utc, format_local
from bot.text.times.schedule import find_zone, parse_schedule
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from bot.commands.context import CommandContext, PersonAtPlace
    from bot.platform.models import Location

PERSONAL = "me"


async def digest_command(call: CommandContext) -> Card:
    """Show, schedule or end the digest of this channel, or with `me` the caller's own."""
    first, _, rest = call.arguments.partition(" ")
    personal = first.casefold() == PERSONAL
    words = rest.strip() if personal else call.arguments
    if not words:
        return Card(await schedule_digest(call, words, personal=personal))
    asked = SchedulePersonalDigest() if personal else ScheduleChannelDigest(call.location.room)
    async with call.recording(asked):
        return Card(await schedule_digest(call, words, personal=personal))


async def schedule_digest(call: PersonAtPlace, words: str, *, personal: bool) -> str:
    """Schedule or end (off) the digest of a channel, or a person's own; without words: what is scheduled.

    Raises NotAllowed and InvalidQuestion.
    """
    location = await _direct_messages(call) if personal else call.location.without_thread
    if not words:
        return _describe(call, await call.store.digests.get(location.room), personal=personal)
    if not personal:
        await call.require_manager(gettext("schedule digests of this channel"))
        if (await call.services.context.audience.get_channel(location)).kind == "direct":
            raise InvalidQuestion(
                gettext("There is no channel here."),
                hint=call.format_example("digest me daily 8:00"),
            )
    if words.casefold() == "off":
        ended = await call.store.digests.delete(location.room)
        return gettext("There will be no more digests here.") if ended else gettext("There was no digest.")
    schedule = parse_schedule(words, await _find_caller_zone(call))
    former = await call.store.digests.get(location.room)
    since = former.since if former else call.now  # what is new since the last digest comes with the next one
    digest = Digest(location, call.person, personal, str(schedule), since, schedule.next_after(call.now))
    await call.store.digests.save(digest)
    return _describe(call, digest, personal=personal)


async def _find_caller_zone(call: PersonAtPlace) -> str:
    """The time zone of the caller's profile; UTC if the platform does not tell one."""
    location = call.location
    person = await call.services.context.audience.get_person_at(location, call.person)
    try:
        return find_zone(person.time_zone)
    except InvalidQuestion:
        return "UTC"


async def _direct_messages(call: PersonAtPlace) -> Location:
    """The caller's direct messages with the bot."""
    platform = call.services.context.platform_for(call.location)
    return await platform.open_direct(call.location.workspace, call.person)


def _describe(call: PersonAtPlace, digest: Digest | None, *, personal: bool) -> str:
    example = call.traits.format_command(f"digest {'me ' if personal else ''}weekly monday 9:00 Europe/Berlin")
    if digest is None:
        state = gettext("You get no digest.") if personal else gettext("This channel has no digest.")
        return f"{state} {gettext('`{command}` schedules one.').format(command=example)}"
    if digest.personal:
        state = gettext("The digest of what you can read comes {schedule}, in direct messages, next on {time}.")
    else:
        state = gettext("The digest of this channel comes {schedule}, next on {time}.")
    return state.format(
        schedule=digest.schedule,
        time=format_local(digest.due_at, find_zone_or_utc(parse_schedule(digest.schedule).zone)),
    )
