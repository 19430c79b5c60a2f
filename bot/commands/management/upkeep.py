"""What is read of a channel, what is told of it regularly, and who is asked there: as the commands do it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.results import Completed, Listing
from bot.commands.digest import schedule_digest
from bot.commands.forget import forget_channel, rehearse_forget_channel
from bot.commands.review.expert import add_expert, list_readable_experts, remove_expert
from bot.commands.settings.command import start_backfill

if TYPE_CHECKING:
    from bot.capabilities.management import requests
    from bot.capabilities.results import Erased, ErasureRehearsal
    from bot.commands.management.manager import Manager


async def forget(manager: Manager, request: requests.ForgetChannel) -> Erased | ErasureRehearsal:
    """Forget a channel, or its messages or files; or only say what would go. Raises NotFound and NotAllowed."""
    call = await manager.open_channel(request.channel)
    erase = rehearse_forget_channel if request.dry_run else forget_channel
    return await erase(call, request.content)


async def backfill(manager: Manager, request: requests.BackfillChannel) -> Completed:
    """Read the history of a channel. Raises NotFound, NotAllowed and InvalidQuestion."""
    return Completed(await start_backfill(await manager.open_channel(request.channel), request.days))


async def schedule_own(manager: Manager, request: requests.SchedulePersonalDigest) -> Completed:
    """Schedule the digests of a person, or say what is scheduled. Raises InvalidQuestion."""
    return Completed(await schedule_digest(manager.stand(), request.schedule.strip(), personal=True))


async def schedule_for_channel(manager: Manager, request: requests.ScheduleChannelDigest) -> Completed:
    """Schedule the digests of a channel, or say what is scheduled. Raises NotFound, NotAllowed, InvalidQuestion."""
    call = await manager.open_channel(request.channel)
    return Completed(await schedule_digest(call, request.schedule.strip(), personal=False))


async def list_channel_experts(manager: Manager, request: requests.ListExperts) -> Listing:
    """The experts of a channel. Raises NotFound."""
    found = await list_readable_experts(await manager.open_channel(request.channel))
    return Listing(("person", "name", "topic"), tuple((person.id, person.name, topic) for person, topic in found))


async def name_expert(manager: Manager, request: requests.AddExpert) -> Completed:
    """Name an expert of a channel. Raises NotFound, NotAllowed and InvalidQuestion."""
    return Completed(await add_expert(await manager.open_channel(request.channel), request.person, request.topic))


async def end_expert(manager: Manager, request: requests.RemoveExpert) -> Completed:
    """End what an expert is asked about. Raises NotFound and NotAllowed."""
    return Completed(await remove_expert(await manager.open_channel(request.channel), request.person, request.topic))
