"""The test as a whole: copy, plant, ask as everybody through everything, and report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.leaks.askers import PREFIX, find_asker, list_shut_out
from bot.leaks.background import BackgroundProbes, prepare
from bot.leaks.canaries import Inventor, in_known_channel, invent_bait, invent_canaries, may_read
from bot.leaks.chat_probes import ChatProbes
from bot.leaks.doors import DoorProbes
from bot.leaks.planting import plant_bait, plant_canary
from bot.leaks.probing import PlantedStore, TableProbes, compare, create_token
from bot.leaks.report import Leak, LeakReport
from bot.leaks.store_copy import open_copy
from bot.platform.models import Location, Person

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from bot.leaks.askers import LeakAsker
    from bot.leaks.canaries import Bait, Canary
    from bot.leaks.store_copy import StoreCopy
    from bot.model_setup.opened import EngineModels
    from bot.platform.models import Channel
    from bot.settings import Settings
    from engine import Clock

MAX_KNOWN_CHANNELS = 5  # of the store, in which a text is planted besides
DEFAULT_ASKERS = ("member", "guest", "manager", "space")
FOREIGN_SPACE = "leak-test:space"


@dataclass(frozen=True, slots=True)
class LeakTest:
    """What is tested. `backup`: of the data; None: an empty store. `askers`: words as `find_asker` takes them.

    `kinds`: of what guards texts, if not all is tested.
    """

    backup: Path | None
    settings: Settings
    clock: Clock
    askers: Sequence[str] = DEFAULT_ASKERS
    seed: int = 1
    with_doors: bool = True
    kinds: Collection[str] = ()


async def run_leak_test(test: LeakTest, models: EngineModels | None = None) -> LeakReport:
    """Run the test in a temporary folder. Raises EngineError."""
    invent = Inventor(test.seed)
    async with open_copy(test.backup, test.settings, test.clock, models) as copy:
        place = await _choose_workspace(copy)
        store, space = copy.bot.store, test.settings.space
        askers = [await find_asker(words, store, place, space) for words in test.askers]
        askers += list_shut_out(place)
        bait = invent_bait(askers, invent)
        _introduce(copy, askers)
        await plant_bait(copy.bot, bait, sorted({asker.subject.space for asker in askers} - {""}))
        members = frozenset(asker.subject.person for asker in askers if asker.kind == "member")
        canaries = [*await _list_known(copy, invent), *invent_canaries(place, FOREIGN_SPACE, members, invent)]
        canaries = [canary for canary in canaries if not test.kinds or canary.kind in test.kinds]
        report = LeakReport(planted=[canary.kind for canary in canaries])
        tokens = {asker: await create_token(copy.bot, asker) for asker in askers}
        for group in _group(askers, canaries):
            await _probe_group(copy, (bait, report), group, tokens)
        if test.with_doors:
            planted = PlantedStore(copy.bot, bait, canaries, report)
            for asker in askers:
                await DoorProbes(planted, asker, tokens[asker]).run()
    return report


@dataclass(frozen=True, slots=True)
class ProbedGroup:
    """Askers of whom nobody may read any of the canaries. `new` ones are planted before they ask."""

    askers: Sequence[LeakAsker]
    canaries: Sequence[Canary]
    new: Sequence[Canary]


def _group(askers: Sequence[LeakAsker], canaries: Sequence[Canary]) -> list[ProbedGroup]:
    """Members ask before texts are planted that only guests may not read."""
    hidden = [canary for canary in canaries if not any(may_read(asker, canary) for asker in askers)]
    rest = [canary for canary in canaries if canary not in hidden]
    readers = [asker for asker in askers if any(may_read(asker, canary) for canary in rest)]
    others = [asker for asker in askers if asker not in readers]
    return [ProbedGroup(readers, hidden, hidden), ProbedGroup(others, canaries, rest)]


async def _probe_group(
    copy: StoreCopy, found: tuple[Bait, LeakReport], group: ProbedGroup, tokens: dict[LeakAsker, str]
) -> None:
    bait, report = found
    store = PlantedStore(copy.bot, bait, group.canaries, report)
    halls = _find_halls(copy, group.askers, bait)
    people = {asker: hall for asker, hall in halls.items() if asker.is_person}
    for asker, hall in people.items():
        await prepare(copy.bot, asker, hall, bait.name)
    await copy.bot.context.engine_context.engine.wait_until_indexed()
    first = {asker: await _read_before(TableProbes(store, asker, tokens[asker])) for asker in group.askers}
    for canary in group.new:
        await plant_canary(copy.bot, canary, bait)
    for asker in group.askers:
        probes = TableProbes(store, asker, tokens[asker])
        for surface in compare(first[asker], {**await probes.read_all(), **await probes.read_hidden()}):
            report.add(Leak(surface, asker.name, "difference"))
    for asker in group.askers:
        await TableProbes(store, asker, tokens[asker]).run(changing=False)
    for asker, hall in halls.items():
        await ChatProbes(store, asker, hall.location).run()
    for platform in copy.platforms.values():
        platform.sent.clear()  # what was said to the person who asked
    for asker, hall in people.items():
        await BackgroundProbes(store, asker, hall).run()
    for asker in group.askers:
        await TableProbes(store, asker, tokens[asker]).run(changing=True)


def _find_halls(copy: StoreCopy, askers: Sequence[LeakAsker], bait: Bait) -> dict[LeakAsker, Channel]:
    """The channel of the text for everybody of each asker who can use the chat."""
    speakers = [asker for asker in askers if asker.can_speak and asker.subject.platform in copy.platforms]
    found = {asker: bait.find_channel(asker) for asker in speakers}
    return {asker: channel for asker, channel in found.items() if channel is not None}


async def _read_before(probes: TableProbes) -> Sequence[dict[str, str]]:
    """The replies before texts are planted, twice: some change by themselves, but not those about what is unknown."""
    hidden = await probes.read_hidden()
    return {**await probes.read_all(), **hidden}, {**await probes.read_all(), **hidden}


async def _choose_workspace(copy: StoreCopy) -> Location:
    """The workspace of invented people: that of most channels."""
    channels = await copy.list_channels()
    if not channels:
        return Location(next(iter(copy.platforms)), "W", "")
    keys = [(channel.platform, channel.workspace) for channel in channels]
    platform, workspace = max(sorted(set(keys)), key=keys.count)
    return Location(platform, workspace, "")


def _introduce(copy: StoreCopy, askers: Sequence[LeakAsker]) -> None:
    """Tell the platforms what invented people are."""
    for asker in askers:
        subject = asker.subject
        if platform := copy.platforms.get(subject.platform):
            name = subject.person.removeprefix(PREFIX)
            platform.people[subject.workspace, subject.person] = Person(
                subject.person,
                name,
                is_guest=asker.kind == "guest",
                is_manager=asker.kind == "manager",
                is_deactivated=asker.kind == "left",
            )


async def _list_known(copy: StoreCopy, invent: Inventor) -> list[Canary]:
    """Canaries for private channels that the store knows."""
    channels = [channel for platform in copy.platforms.values() for channel in platform.channels.values()]
    return [in_known_channel(channel, invent) for channel in channels if channel.kind == "closed"][:MAX_KNOWN_CHANNELS]
