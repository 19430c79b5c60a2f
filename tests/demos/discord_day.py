"""A day in the server of a small makers' club, with the whole bot in it: `python -m tests.demos.discord_day`.

No tokens and no network: the bot speaks to a server on this machine that behaves as Discord does. What is printed is
what the people have on their screens.
"""

from __future__ import annotations

from typing import Any

from tests.demos.day import Show, StartBot, format_title, run_main
from tests.support.discord_server import Channel, FakeDiscord, File, Interaction, Message, Permission, Person, Post

MANUAL = """# The big kiln

The big kiln is called Vesta. It was built by Brenner & Daughters and holds sixty pots.

## Firing

Stoneware is fired in Vesta at 1240 degrees for nine hours. Earthenware is fired at 1060 degrees for six hours.
The lid of Vesta stays closed until the kiln is below 90 degrees.

## Trouble

If Vesta shows the error E-7, the thermocouple is broken. Spare thermocouples lie in the red drawer.
"""


MARKDOWN = "text/markdown"

NOTES = """# Things to ask Hendry Tools

The blade of the band saw is a Hendry 40, and it cost 62. The next one is due in September.
"""


class DemoDay:
    """The people, the channels, and what is printed of them."""

    def __init__(self, discord: FakeDiscord, show: Show, pause: float) -> None:
        self.discord, self.show, self.pause = discord, show, pause
        self.club = discord.guild("Saltmarsh Makers")
        committee = discord.role(self.club, "Committee", Permission.MANAGE_GUILD)
        self.ada = discord.member(self.club, "Ada", roles=[committee])
        self.bo, self.cleo = discord.member(self.club, "Bo"), discord.member(self.club, "Cleo")
        self.workshop, self.hall = discord.channel(self.club, "workshop"), discord.channel(self.club, "hall")
        self.committee = discord.channel(self.club, "committee", only=[committee])

    def print_title(self, title: str) -> None:
        self.show(format_title(title))

    async def sleep(self) -> None:
        """Time enough to hear and to read."""
        await self.discord.wait_until_quiet(self.pause)

    async def post_lines(self, channel: Channel, *lines: tuple[Person, str]) -> list[Message]:
        said = [await person.says(channel, text) for person, text in lines]
        await self.sleep()
        return said

    def print_screen(self, person: Person, channel: Channel, last: int = 0) -> None:
        """Print what somebody sees: the whole channel, or its last posts."""
        screen = self.discord.sees(person, channel)
        self.show("\n".join(map(str, screen.posts[-last:])) if last else str(screen))

    async def run_command(self, person: Person, channel: Channel, command: str, **options: Any) -> Interaction:
        """A slash command, and what comes of it on the screen of its user."""
        typed = " ".join(
            f"{name}: {value.name if isinstance(value, File) else value}" for name, value in options.items()
        )
        self.show(f"{person.name} types in #{channel.name}: /{command} {typed}")
        used = await person.slash(command, here=channel, **options)

        def mine() -> list[Message]:
            return [message for message in (used.original, *used.followups) if message is not None]

        if command == "ask":
            await self.discord.wait_for(lambda: used.error or any(message.components for message in mine()))
        else:
            await self.discord.wait_for(lambda: used.error or not any(message.loading for message in mine()))
        await self.sleep()
        for post in self.discord.sees(person, channel).posts:
            if post.message in mine():
                self.show(str(post))
        if used.error:
            self.show(f"! {used.error}")
        return used

    async def press_button(self, person: Person, used: Interaction, button: str) -> None:
        """Somebody presses a button below an answer, and what comes of it."""
        self.show(f"{person.name} presses {button}")
        answer = next(one for one in (*reversed(used.followups), used.original) if one is not None and one.components)
        await person.clicks(answer, button)
        await self.sleep()
        self.print_screen(person, answer.channel, last=1)

    async def wait_for_redaction(self, person: Person, used: Interaction) -> None:
        """Wait until an answer says that a source of it was removed, and show it."""

        def posts() -> list[Post]:
            return [each for each in self.discord.sees(person, used.channel).posts if each.message is used.original]

        await self.discord.wait_for(lambda: any("was removed" in each.text for each in posts()))
        await self.sleep()
        self.show("\n".join(map(str, posts())))

    async def ask_by_mention(self, person: Person, channel: Channel, text: str) -> Channel:
        """Somebody asks by a mention; gives the thread in which it is answered."""
        asked = await person.says(channel, f"{self.discord.bot(self.club).mention} {text}")
        await self.discord.wait_for(lambda: asked.thread is not None)
        assert asked.thread is not None
        await self.wait_for_answer(person, asked.thread)
        self.print_screen(person, asked.thread)
        return asked.thread

    async def ask_follow_up(self, person: Person, thread: Channel, text: str) -> None:
        await person.says(thread, text)
        await self.wait_for_answer(person, thread)
        self.print_screen(person, thread, last=2)

    async def wait_for_answer(self, person: Person, thread: Channel) -> None:
        """Wait until the last word in a thread is the app's, and whole: with something to press below it."""

        def whole() -> bool:
            posts = self.discord.sees(person, thread).posts
            return bool(posts) and posts[-1].bot and bool(posts[-1].buttons)

        await self.discord.wait_for(whole)
        await self.sleep()


async def morning(day: DemoDay) -> list[Message]:
    """Channels are switched on, people talk, a file is learned."""
    day.print_title("08:55  Ada, who manages the server, switches on #workshop, #hall and the committee's channel")
    for channel in (day.workshop, day.hall, day.committee):
        await day.run_command(day.ada, channel, "settings", setting="ingest", value="on")
    day.print_title("09:10  People talk in #workshop")
    said = await day.post_lines(
        day.workshop,
        (day.ada, "Open night moves to Thursday, 4 March, at seven: the Rowing Club needs the hall on Tuesday."),
        (day.bo, "Marlow Timber will deliver the ash planks for the canoe on 9 March."),
        (day.cleo, f"Thank you {day.bo.mention}! The band saw got a new blade from Hendry Tools yesterday."),
    )
    await day.post_lines(
        day.committee,
        (day.ada, "For the committee only: the landlord raises the rent of the hall to 1,350 a month from June on."),
    )
    day.print_screen(day.cleo, day.workshop)
    day.print_title("10:30  Bo drops the manual of the kiln into #workshop, and lets the bot learn notes of their own")
    dropped = await day.bo.says(day.workshop, "How to fire.", files=[File("kiln-manual.md", MANUAL.encode(), MARKDOWN)])
    await day.discord.wait_for(lambda: "✅" in dropped.reactions)
    await day.sleep()
    day.print_screen(day.bo, day.workshop, last=1)
    await day.run_command(day.bo, day.workshop, "learn", file=File("notes.md", NOTES.encode(), MARKDOWN))
    return said


async def noon(day: DemoDay) -> Interaction:
    """Questions: in public with a click below the answer, in private, by a mention and in its thread."""
    day.print_title("11:00  Cleo asks in public, and likes the answer")
    asked = await day.run_command(day.cleo, day.workshop, "ask", question="When is open night?")
    await day.press_button(day.cleo, asked, "👍")
    day.print_title("11:20  Bo asks in private, for what they alone let it learn")
    await day.run_command(day.bo, day.hall, "ask", question="What did the blade of the band saw cost?", private=True)
    day.print_title("11:30  Cleo mentions the bot, and goes on in the thread that it opens")
    thread = await day.ask_by_mention(day.cleo, day.workshop, "who delivers the ash planks?")
    await day.ask_follow_up(day.cleo, thread, "And on which day?")
    day.print_title("11:45  A question that nothing in the channels answers")
    await day.run_command(day.bo, day.hall, "ask", question="What is the telephone number of the mayor?")
    return asked


async def afternoon(day: DemoDay, said: list[Message], asked: Interaction) -> None:
    """Edits and deletions take effect."""
    night, planks = said[0], said[1]
    day.print_title("14:00  Ada edits the date of open night: what Cleo was told is taken back; Bo asks")
    await day.ada.edits(
        night, "Open night moves to Friday, 5 March, at eight: the Rowing Club needs the hall on Tuesday."
    )
    await day.wait_for_redaction(day.cleo, asked)
    await day.run_command(day.bo, day.workshop, "ask", question="When is open night?")
    day.print_title("14:20  Bo deletes what they wrote about the planks; Cleo asks")
    await day.bo.deletes(planks)
    await day.sleep()
    await day.run_command(day.cleo, day.workshop, "ask", question="When will Marlow Timber deliver the ash planks?")


async def evening(day: DemoDay) -> None:
    """A secret of a restricted channel is asked for in public, and where it belongs."""
    day.print_title("16:00  Cleo is curious, in public, and in private")
    question = "What will the rent of the hall be from June on?"
    await day.run_command(day.cleo, day.hall, "ask", question=question)
    await day.run_command(day.cleo, day.hall, "ask", question=question, private=True)
    day.print_title("16:10  Ada asks the same in the committee's channel")
    await day.run_command(day.ada, day.committee, "ask", question=question)
    day.print_title("16:20  Ada asks in private in #hall, and sees the answer alone")
    await day.run_command(day.ada, day.hall, "ask", question=question, private=True)
    day.print_title("17:00  What Cleo sees of #committee, and of #hall")
    day.print_screen(day.cleo, day.committee)
    day.show("")
    day.print_screen(day.cleo, day.hall)


async def run_day(start: StartBot, show: Show, *, pause: float = 0.8) -> FakeDiscord:
    """Live through the day with a bot, and give the server as it is in the evening."""
    async with FakeDiscord() as discord:
        day = DemoDay(discord, show, pause)
        access = {"bot_token": discord.token, "api_base": discord.api, "gateway_url": discord.gateway_url}
        async with start("discord", access):
            await discord.wait_until_connected(60)
            await day.sleep()
            said = await morning(day)
            asked = await noon(day)
            await afternoon(day, said, asked)
            await evening(day)
    return discord


if __name__ == "__main__":
    run_main(__doc__, run_day)
