"""A day in the workspace of a small kite maker, with the whole bot in it: `python -m tests.demos.slack_day`.

No tokens and no network: the bot speaks to a server on this machine that behaves as Slack does. What is printed is
what the people have on their screens.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.slack_server import App, FakeSlack, File

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from tests.support.slack_server import Entry, Person, Room, Said

REPORT = """# Wind test of 11 November

Held on the east dunes, wind 6 to 7, from nine to noon. Bo Lindqvist flew, Cleo Marsh kept the times.

## The Delta kite

The Delta kite with carbon spars by Firth Rods broke a spar twice, both times in gusts above 55 km/h.
With fibreglass spars by Orrin & Sons the Delta kite stayed whole through 40 minutes at the same wind.

## The Box kite

The Box kite flew well, but its yellow tail tore off after 25 minutes. Bo will sew the tail with a double seam.
"""


@dataclass(frozen=True, slots=True)
class Access:
    """What a bot needs to know to start."""

    base_url: str
    bot_token: str
    app_token: str


@contextlib.asynccontextmanager
async def threadlore(access: Access) -> AsyncIterator[None]:
    """The whole bot, in a data folder of its own that goes with the day."""
    from bot.server import serve  # noqa: PLC0415  - the day itself needs no bot
    from bot.settings import load  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="threadlore-day-") as home:
        settings = load(
            home=Path(home),
            slack_bot_token=access.bot_token,
            slack_app_token=access.app_token,
            slack_api_base=access.base_url,
        )
        stop = asyncio.Event()
        serving = asyncio.create_task(serve(settings, stop, only=("slack",)))
        try:
            yield
        finally:
            stop.set()
            await serving


class Day:
    """The people, the rooms, and what is printed of them."""

    def __init__(self, slack: FakeSlack, show: Callable[[str], None], pause: float) -> None:
        self.slack, self.show, self.pause = slack, show, pause
        self.ada, self.bo = slack.user("Ada", admin=True), slack.user("Bo")
        self.cleo, self.dee = slack.user("Cleo"), slack.user("Dee")
        everybody = [self.ada, self.bo, self.cleo]
        self.general = slack.channel("general", members=everybody, bot=False)
        self.workshop = slack.channel("workshop", members=everybody, bot=False)
        self.wages = slack.channel("wages", members=[self.ada, self.bo], kind="private", bot=False)

    def scene(self, title: str) -> None:
        self.show(f"\n━━ {title} {'━' * max(0, 96 - len(title))}\n")

    async def breath(self) -> None:
        """Time enough to hear and to read."""
        await self.slack.delivered(30)
        await self.slack.rest(self.pause, 60)

    async def talk(self, room: Room, *lines: tuple[Person, str]) -> list[Said]:
        said = [await person.says(room, text) for person, text in lines]
        await self.breath()
        return said

    def entry(self, person: Person, room: Room, ts: str) -> Entry:
        return next(each for each in self.slack.sees(person, room).all() if each.ts == ts)

    def shows(self, said: Said, reaction: str) -> bool:
        """Whether a message bears a reaction."""
        return reaction in dict(self.entry(self.bo, said.room, said.ts).reactions)

    def taken_back(self, asked: Said) -> bool:
        """Whether the answer to a question says that a source of it was removed."""
        return any("was removed" in each.text for each in self.slack.sees(self.bo, asked.room).thread(asked.root))

    async def answer(self, person: Person, said: Said, after: int = 0) -> None:
        """Wait for the answer in a message's thread, and show the thread."""

        def done() -> bool:
            root = self.entry(person, said.room, said.root)
            replies = [each for each in root.replies[after:] if each.author == self.slack.space.bot.name]
            return bool(replies) and not root.status and not any(each.writing for each in replies)

        await self.slack.until(done, 60, "for an answer")
        await self.slack.rest(self.pause, 60)
        root = self.entry(person, said.room, said.root)
        if after:
            self.show("\n".join(line for each in root.replies[after:] for line in each.lines("  │ ")))
        else:
            self.show(str(root))

    async def ask(self, person: Person, room: Room, text: str) -> Said:
        said = await person.mentions(room, text)
        await self.answer(person, said)
        return said

    async def follow_up(self, person: Person, asked: Said, text: str) -> None:
        before = len(self.slack.sees(person, asked.room).thread(asked.root))
        await person.says(asked.room, text, thread=asked)
        await self.answer(person, asked, before)

    async def whisper(self, person: Person, room: Room, words: str) -> None:
        """A slash command, and what only its user sees of it."""

        def private() -> list[Entry]:
            return [each for each in self.slack.sees(person, room).entries if each.private]

        before = len(private())
        self.show(f"#{room.channel.name}\n{person.name} types: /threadlore {words}")
        await person.slash(room, words)
        await self.slack.until(lambda: len(private()) > before, 60, "for a private answer")
        await self.slack.rest(self.pause, 60)
        for entry in private()[before:]:
            self.show(str(entry))


async def morning(day: Day) -> list[Said]:
    """The app comes in, people talk, a file is dropped."""
    day.scene("Ada takes Threadlore into #workshop and #general, and into the private #wages")
    for room in (day.workshop, day.general, day.wages):
        await day.ada.invites(room, day.slack.bot)
    await day.breath()
    day.show(str(day.slack.sees(day.ada, day.workshop)))
    day.scene("People talk in #workshop")
    said = await day.talk(
        day.workshop,
        (day.ada, "Good morning! Lumen Sports ordered 400 Delta kites, to be delivered on 14 April."),
        (day.bo, "Hanako Textiles will send us the ripstop nylon for the Lumen order on 2 March."),
        (day.cleo, "The new carbon spars from Firth Rods broke twice in the wind test, @Bo."),
        (day.bo, "Right. We go back to the fibreglass spars of Orrin & Sons until Firth Rods has fixed that."),
    )
    await day.talk(
        day.wages,
        (day.ada, "For the two of us only: Bo's wage rises to 4,150 a month from May on."),
        (day.bo, "Thank you, Ada. I will not tell anybody."),
    )
    day.show("\n".join(str(day.entry(day.cleo, day.workshop, each.ts)) for each in said))
    day.scene("Bo drops a file into #workshop")
    dropped = await day.bo.says(
        day.workshop, "Here is what we measured.", files=[File("wind-test-report.md", REPORT.encode(), "text/markdown")]
    )
    await day.slack.until(lambda: day.shows(dropped, "white_check_mark"), 60, "until the file is read")
    await day.breath()
    day.show(str(day.entry(day.bo, day.workshop, dropped.ts)))
    return said


async def noon(day: Day) -> None:
    """Questions: in public, in the thread, in private, and one that nobody can answer."""
    day.scene("Cleo asks in #workshop, and goes on in the thread")
    asked = await day.ask(day.cleo, day.workshop, "Which spars do we use for the Delta kite now?")
    await day.follow_up(day.cleo, asked, "And what happened to the yellow tail of the Box kite?")
    day.scene("Cleo asks in private, by the command")
    await day.whisper(day.cleo, day.general, "ask How many kites did Lumen Sports order?")
    day.scene("A question that nothing in the channels answers")
    await day.ask(day.bo, day.workshop, "What is the telephone number of the mayor?")


async def afternoon(day: Day, said: list[Said]) -> None:
    """Edits and deletions take effect."""
    order, nylon = said[0], said[1]
    question = "When must the Delta kites for Lumen Sports be delivered?"
    day.scene("Bo asks for a date; Ada moves it by an edit, and the answer is taken back; Bo asks again")
    asked = await day.ask(day.bo, day.workshop, question)
    await day.ada.edits(
        order, "Good morning! Lumen Sports ordered 400 Delta kites, to be delivered on 21 April, a week later."
    )
    await day.slack.until(lambda: day.taken_back(asked), 60, "until the answer is taken back")
    await day.breath()
    day.show(str(day.entry(day.bo, day.workshop, asked.ts)))
    await day.ask(day.bo, day.workshop, question)
    day.scene("Bo deletes what they wrote about the nylon; Cleo asks for it")
    await day.bo.deletes(nylon)
    await day.breath()
    await day.ask(day.cleo, day.workshop, "When will Hanako Textiles send the ripstop nylon?")


async def evening(day: Day) -> None:
    """Somebody new comes; a secret of a private channel is asked for in public, and where it belongs."""
    day.scene("Dee is new in #workshop; she looks at the app's Home tab, and asks how much is known")
    await day.dee.joins(day.workshop)
    await day.dee.opens_app("home")
    await day.slack.until(day.dee.home, 60, "for the Home tab")
    await day.breath()
    day.show(day.dee.home())
    await day.whisper(day.dee, day.workshop, "status")
    day.scene("Cleo is curious about what is said in #wages, and asks in #general")
    await day.ask(day.cleo, day.general, "What will Bo's wage be from May on?")
    day.scene("Ada asks the same in #wages, where it belongs")
    await day.ask(day.ada, day.wages, "What will Bo's wage be from May on?")
    day.scene("Ada asks in private in #general, and sees the answer alone")
    await day.whisper(day.ada, day.general, "ask What will Bo's wage be from May on?")
    day.scene("What Cleo sees of #wages, and of #general")
    day.show(str(day.slack.sees(day.cleo, day.wages)))
    day.show(str(day.slack.sees(day.cleo, day.general)))


async def live(
    start: Callable[[Access], AbstractAsyncContextManager[None]],
    show: Callable[[str], None],
    *,
    app: App | None = None,
    pause: float = 0.6,
) -> FakeSlack:
    """Live through the day with a bot, and give the workspace as it is in the evening."""
    async with FakeSlack(app) as slack:
        day = Day(slack, show, pause)
        access = Access(slack.base_url, slack.space.app.bot_token, slack.space.app.app_token)
        async with start(access):
            await slack.connected(timeout=60)
            said = await morning(day)
            await noon(day)
            await afternoon(day, said)
            await evening(day)
    return slack


def manifest(name: str = "manifest.json") -> App:
    """The app that the shipped manifest describes."""
    return App.of(json.loads(resources.files("adapters.slack").joinpath(name).read_text("utf-8")))


def main() -> None:
    """Read the arguments, and let the day begin."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--debug", action="store_true", help="show the bot's log on stderr")
    options = parser.parse_args()
    from bot import log_config  # noqa: PLC0415  - the day itself needs no bot

    log_config.set_up(debug=options.debug)
    asyncio.run(live(threadlore, _print, app=manifest()))


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
