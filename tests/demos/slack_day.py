"""A day in the workspace of a small kite maker, with the whole bot in it: `python -m tests.demos.slack_day`.

No tokens and no network: the bot speaks to a server on this machine that behaves as Slack does. What is printed is
what the people have on their screens.
"""

from __future__ import annotations

import json
from importlib import resources

from tests.demos.day import DayBot, Show, StartBot, format_title, run_main
from tests.support.slack_server import App, Entry, FakeSlack, File, Person, Room, SentMessage

REPORT = """# Wind test of 11 November

Held on the east dunes, wind 6 to 7, from nine to noon. Bo Lindqvist flew, Cleo Marsh kept the times.

## The Delta kite

The Delta kite with carbon spars by Firth Rods broke a spar twice, both times in gusts above 55 km/h.
With fibreglass spars by Orrin & Sons the Delta kite stayed whole through 40 minutes at the same wind.

## The Box kite

The Box kite flew well, but its yellow tail tore off after 25 minutes. Bo will sew the tail with a double seam.
"""


class DemoDay:
    """The people, the rooms, and what is printed of them."""

    def __init__(self, slack: FakeSlack, show: Show, pause: float) -> None:
        self.slack, self.show, self.pause = slack, show, pause
        self.ada, self.bo = slack.user("Ada", admin=True), slack.user("Bo")
        self.cleo, self.dee = slack.user("Cleo"), slack.user("Dee")
        everybody = [self.ada, self.bo, self.cleo]
        self.general = slack.channel("general", members=everybody, bot=False)
        self.workshop = slack.channel("workshop", members=everybody, bot=False)
        self.wages = slack.channel("wages", members=[self.ada, self.bo], kind="private", bot=False)

    def print_title(self, title: str) -> None:
        self.show(format_title(title))

    async def sleep(self) -> None:
        """Time enough to hear and to read."""
        await self.slack.wait_until_delivered(30)
        await self.slack.wait_until_quiet(self.pause, 60)

    async def post_lines(self, room: Room, *lines: tuple[Person, str]) -> list[SentMessage]:
        said = [await person.says(room, text) for person, text in lines]
        await self.sleep()
        return said

    def entry(self, person: Person, room: Room, ts: str) -> Entry:
        return next(entry for entry in self.slack.sees(person, room).all_entries() if entry.ts == ts)

    def has_reaction(self, said: SentMessage, reaction: str) -> bool:
        """Whether a message bears a reaction."""
        return reaction in dict(self.entry(self.bo, said.room, said.ts).reactions)

    def is_redacted(self, asked: SentMessage) -> bool:
        """Whether the answer to a question says that a source of it was removed."""
        return any("was removed" in each.text for each in self.slack.sees(self.bo, asked.room).thread(asked.root))

    async def wait_for_answer(self, person: Person, said: SentMessage, after: int = 0) -> None:
        """Wait for the answer in a message's thread, and show the thread."""

        def done() -> bool:
            root = self.entry(person, said.room, said.root)
            replies = [reply for reply in root.replies[after:] if reply.author == self.slack.space.bot.name]
            return bool(replies) and not root.status and not any(reply.writing for reply in replies)

        await self.slack.wait_for(done, what="for an answer")
        await self.slack.wait_until_quiet(self.pause, 60)
        root = self.entry(person, said.room, said.root)
        if after:
            self.show("\n".join(line for reply in root.replies[after:] for line in reply.lines("  │ ")))
        else:
            self.show(str(root))

    async def ask(self, person: Person, room: Room, text: str) -> SentMessage:
        said = await person.mentions(room, text)
        await self.wait_for_answer(person, said)
        return said

    async def follow_up(self, person: Person, asked: SentMessage, text: str) -> None:
        before = len(self.slack.sees(person, asked.room).thread(asked.root))
        await person.says(asked.room, text, thread=asked)
        await self.wait_for_answer(person, asked, before)

    async def run_command(self, person: Person, room: Room, words: str) -> None:
        """A slash command, and what only its user sees of it."""

        def private() -> list[Entry]:
            return [entry for entry in self.slack.sees(person, room).entries if entry.private]

        before = len(private())
        self.show(f"#{room.channel.name}\n{person.name} types: /threadlore {words}")
        await person.slash(room, words)
        await self.slack.wait_for(lambda: len(private()) > before, what="for a private answer")
        await self.slack.wait_until_quiet(self.pause, 60)
        for entry in private()[before:]:
            self.show(str(entry))

    async def press_button(self, person: Person, room: Room, label: str, entry: Entry | None = None) -> None:
        """Press a button of a message, or of the last one that only this person sees; what comes of it they see."""
        entry = entry or next(each for each in reversed(self.slack.sees(person, room).entries) if each.private)
        self.show(f"{person.name} presses: {label}")
        await person.clicks(entry, label)
        await self.sleep()

    async def fill_form(self, person: Person, **answers: str) -> None:
        """Change fields of the open form, and submit it."""
        view = person.modal
        self.show(f"┌ {view['title']['text']}")
        for block in view["blocks"]:
            if block["type"] == "input":
                chosen = (
                    block["element"].get("initial_option", {}).get("value", block["element"].get("initial_value", ""))
                )
                change = f" → {answers[block['block_id']]}" if block["block_id"] in answers else ""
                self.show(f"│ {block['label']['text']}: {chosen}{change}")
        self.show(f"└ {person.name} submits the form")
        assert await person.submits(answers) == {}
        await self.sleep()

    async def receive_digest(self, person: Person, room: Room, bot: DayBot) -> None:
        """Let a week go by, wait for the digest of a channel, and show it."""

        def headings() -> list[Entry]:
            entries = self.slack.sees(person, room).entries
            return [entry for entry in entries if "Digest" in entry.text and entry.replies and not entry.status]

        bot.move_digests()
        await self.slack.wait_for(lambda: any(not one.replies[-1].writing for one in headings()), what="for a digest")
        await self.sleep()
        self.show(str(headings()[-1]))


async def morning(day: DemoDay) -> list[SentMessage]:
    """The app comes in, people talk, a file is dropped."""
    day.print_title("Ada takes Threadlore into #workshop and #general, and into the private #wages")
    for room in (day.workshop, day.general, day.wages):
        await day.ada.invites(room, day.slack.bot)
    await day.sleep()
    day.show(str(day.slack.sees(day.ada, day.workshop)))
    day.print_title("People talk in #workshop")
    said = await day.post_lines(
        day.workshop,
        (day.ada, "Good morning! Lumen Sports ordered 400 Delta kites, to be delivered on 14 April."),
        (day.bo, "Hanako Textiles will send us the ripstop nylon for the Lumen order on 2 March."),
        (day.cleo, "The new carbon spars from Firth Rods broke twice in the wind test, @Bo."),
        (day.bo, "Right. We go back to the fibreglass spars of Orrin & Sons until Firth Rods has fixed that."),
    )
    await day.post_lines(
        day.wages,
        (day.ada, "For the two of us only: Bo's wage rises to 4,150 a month from May on."),
        (day.bo, "Thank you, Ada. I will not tell anybody."),
    )
    day.show("\n".join(str(day.entry(day.cleo, day.workshop, line.ts)) for line in said))
    day.print_title("Bo drops a file into #workshop")
    dropped = await day.bo.says(
        day.workshop, "Here is what we measured.", files=[File("wind-test-report.md", REPORT.encode(), "text/markdown")]
    )
    await day.slack.wait_for(lambda: day.has_reaction(dropped, "white_check_mark"), what="until the file is read")
    await day.sleep()
    day.show(str(day.entry(day.bo, day.workshop, dropped.ts)))
    return said


async def noon(day: DemoDay) -> None:
    """Questions: in public, in the thread, and in private."""
    day.print_title("Cleo asks in #workshop; Bo presses a suggested question, and Cleo goes on in the thread")
    asked = await day.ask(day.cleo, day.workshop, "Which spars do we use for the Delta kite now?")
    await press_suggestion(day, asked)
    await day.follow_up(day.cleo, asked, "And what happened to the yellow tail of the Box kite?")
    day.print_title("Cleo asks in private, by the command")
    await day.run_command(day.cleo, day.general, "ask How many kites did Lumen Sports order?")


async def press_suggestion(day: DemoDay, asked: SentMessage) -> None:
    """Bo presses a question that is suggested below the first answer of a thread."""
    thread = day.entry(day.bo, day.workshop, asked.root)
    answer = next(reply for reply in thread.replies if reply.buttons)
    before = len(day.slack.sees(day.bo, asked.room).thread(asked.root))
    await day.press_button(
        day.bo, day.workshop, next(button for button in answer.buttons if button.startswith("What about")), answer
    )
    await day.wait_for_answer(day.bo, asked, before)


async def review(day: DemoDay) -> None:
    """A manager verifies and pins answers; filters narrow a question; a digest is scheduled."""
    day.print_title("Ada verifies the last answer; Bo asks the same in other words")
    await day.run_command(day.ada, day.workshop, "verify")
    await day.ask(day.bo, day.workshop, "What happened to the yellow tail of the Box kite, please?")
    day.print_title("Ada looks at what was asked in vain, and pins an answer; Cleo asks for it")
    await day.ask(day.bo, day.workshop, "What is the telephone number of the mayor?")
    await day.run_command(day.ada, day.workshop, "unanswered")
    await day.run_command(day.ada, day.workshop, 'pin "What is the telephone number of the mayor?" "It is 555 0134."')
    await day.ask(day.cleo, day.workshop, "What is the telephone number of the mayor?")
    day.print_title("Cleo asks only for what Bo said in #workshop, and for what she missed; Ada schedules a digest")
    await day.run_command(day.cleo, day.general, "ask in:#workshop from:@Bo Which spars do we use?")
    await day.run_command(day.cleo, day.workshop, "catch-up 1d")
    await day.run_command(day.ada, day.workshop, "digest weekly monday 9:00 Europe/Berlin")


async def channel_care(day: DemoDay, bot: DayBot) -> None:
    """An expert is asked; who may ask is changed in a form; a week goes by, and its digest comes."""
    day.print_title("Ada names Cleo an expert; Bo asks in vain, and presses the button that asks her")
    await day.run_command(day.ada, day.workshop, "expert add @Cleo harbour")
    asked = await day.ask(day.bo, day.workshop, "Who is the keeper of the harbour?")
    answer = day.entry(day.bo, day.workshop, asked.root).replies[-1]
    await day.press_button(day.bo, day.workshop, "Improve this answer", answer)
    offered = day.entry(day.bo, day.workshop, asked.root).replies[-1]
    await day.press_button(day.bo, day.workshop, "Ask an expert", offered)
    day.show(str(day.entry(day.cleo, day.workshop, asked.root)))
    day.print_title("Ada changes the settings of #workshop in a form")
    await day.run_command(day.ada, day.workshop, "settings")
    await day.press_button(day.ada, day.workshop, "Reading and asking…")
    await day.fill_form(day.ada, askers="members")
    day.show(str(day.slack.sees(day.ada, day.workshop).entries[-1]))
    day.print_title("A week goes by, and the digest of #workshop comes")
    await day.receive_digest(day.cleo, day.workshop, bot)


async def afternoon(day: DemoDay, said: list[SentMessage]) -> None:
    """Edits and deletions take effect."""
    order, nylon = said[0], said[1]
    question = "When must the Delta kites for Lumen Sports be delivered?"
    day.print_title("Bo asks for a date; Ada moves it by an edit, and the answer is taken back; Bo asks again")
    asked = await day.ask(day.bo, day.workshop, question)
    await day.ada.edits(
        order, "Good morning! Lumen Sports ordered 400 Delta kites, to be delivered on 21 April, a week later."
    )
    await day.slack.wait_for(lambda: day.is_redacted(asked), what="until the answer is taken back")
    await day.sleep()
    day.show(str(day.entry(day.bo, day.workshop, asked.ts)))
    await day.ask(day.bo, day.workshop, question)
    day.print_title("Bo deletes what they wrote about the nylon; Cleo asks for it")
    await day.bo.deletes(nylon)
    await day.sleep()
    await day.ask(day.cleo, day.workshop, "When will Hanako Textiles send the ripstop nylon?")


async def evening(day: DemoDay) -> None:
    """Somebody new comes; a secret of a private channel is asked for in public, and where it belongs."""
    day.print_title("Dee is new in #workshop; she looks at the app's Home tab, and asks how much is known")
    await day.dee.joins(day.workshop)
    await day.dee.opens_app("home")
    await day.slack.wait_for(day.dee.home_tab, what="for the Home tab")
    await day.sleep()
    day.show(day.dee.home_tab())
    await day.run_command(day.dee, day.workshop, "status")
    day.print_title("Cleo is curious about what is said in #wages, and asks in #general")
    await day.ask(day.cleo, day.general, "What will Bo's wage be from May on?")
    day.print_title("Ada asks the same in #wages, where it belongs")
    await day.ask(day.ada, day.wages, "What will Bo's wage be from May on?")
    day.print_title("Ada asks in private in #general, and sees the answer alone")
    await day.run_command(day.ada, day.general, "ask What will Bo's wage be from May on?")
    day.print_title("What Cleo sees of #wages, and of #general")
    day.show(str(day.slack.sees(day.cleo, day.wages)))
    day.show(str(day.slack.sees(day.cleo, day.general)))


async def run_day(start: StartBot, show: Show, *, pause: float = 0.6) -> FakeSlack:
    """Live through the day with a bot, and give the workspace as it is in the evening."""
    async with FakeSlack(load_manifest()) as slack:
        day, app = DemoDay(slack, show, pause), slack.space.app
        access = {"bot_token": app.bot_token, "app_token": app.app_token, "api_base": slack.base_url}
        async with start("slack", access) as bot:
            await slack.wait_until_connected()
            said = await morning(day)
            await noon(day)
            await review(day)
            await channel_care(day, bot)
            await afternoon(day, said)
            await evening(day)
    return slack


def load_manifest(name: str = "manifest.json") -> App:
    """The app that the shipped manifest describes."""
    return App.from_manifest(json.loads(resources.files("adapters.slack").joinpath(name).read_text("utf-8")))


if __name__ == "__main__":
    run_main(__doc__, run_day)
