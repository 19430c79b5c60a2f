"""A day in the server of a small makers' club, with the whole bot in it: `python -m tests.demos.discord_day`.

No tokens and no network: the bot speaks to a server on this machine that behaves as Discord does. What is printed is
what the people have on their screens.
"""

from __future__ import annotations

from tests.demos.day import DayBot, Show, StartBot, run_main
from tests.demos.discord_club import DemoDay
from tests.support.discord_server import FakeDiscord, File, Interaction, Message
from tests.support.web_server import HTML

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

PAGE = """<html><head><title>Fair at the quay</title></head><body><h1>Fair at the quay</h1>
<p>The fair at the quay opens on Saturday, 27 March, at ten. A stall of three meters costs 35.</p></body></html>
"""


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


async def review(day: DemoDay, bot: DayBot) -> None:
    """A manager verifies and pins answers; filters narrow a question; a thread is summarized."""
    day.print_title("12:00  Ada verifies an answer; Bo asks the same in other words")
    await day.run_command(day.cleo, day.workshop, "ask", question="At how many degrees is stoneware fired?")
    await day.run_command(day.ada, day.workshop, "verify")
    await day.run_command(day.bo, day.workshop, "ask", question="At how many degrees is stoneware fired, please?")
    day.print_title("12:10  Ada looks at what was asked in vain, and pins an answer; Cleo asks for it")
    await day.run_command(day.ada, day.hall, "unanswered")
    words = '"What is the telephone number of the mayor?" "It is 555 0134."'
    await day.run_command(day.ada, day.hall, "pin", words=words)
    await day.run_command(day.cleo, day.hall, "ask", question="What is the telephone number of the mayor?")
    day.print_title("12:20  Cleo asks only for what Bo said in #workshop, and for what they missed")
    only = {"in": f"<#{day.workshop.id}>", "from": day.bo.mention}
    await day.run_command(day.cleo, day.hall, "ask", question="What will be delivered?", **only)
    await day.run_command(day.cleo, day.workshop, "catch-up", since="1d")
    day.print_title("12:30  A thread about the canoe, and its summary for Bo alone")
    asked = await day.ada.says(day.hall, "Which color do we paint the canoe?")
    thread = await day.ada.opens_thread(asked, "The color of the canoe")
    lines = await day.post_lines(
        thread,
        (day.bo, "Green paint is cheaper: the tin is 18 at Hendry Tools."),
        (day.cleo, "The red one lasts two summers longer, and it costs 22."),
        (day.ada, "Then it is decided: red."),
    )
    await bot.wait_until_indexed(str(line.id) for line in lines)
    await day.use_menu(day.bo, "Summarize thread", asked)


async def channel_care(day: DemoDay, bot: DayBot) -> None:
    """An expert is asked; a form changes settings; a linked page is read; a week goes by, and its digest comes."""
    day.print_title("13:00  Ada names Cleo an expert; Bo asks in vain, and presses the button that asks them")
    await day.run_command(day.ada, day.workshop, "expert", words=f"add {day.cleo.mention} harbor")
    asked = await day.run_command(day.bo, day.workshop, "ask", question="Who is the keeper of the harbor?")
    offered = await day.press_button(day.bo, asked, "Improve this answer")
    await day.press_button(day.bo, offered, "Ask an expert")
    day.print_pings(day.cleo, day.workshop)
    day.print_title("13:10  Ada lets the bot read linked pages, in a form; Bo links one; Cleo asks for it")
    card = await day.run_command(day.ada, day.workshop, "settings")
    await day.fill_form(day.ada, card, "Reading and asking…", links="on")
    bot.web.pages["/fair"] = HTML, PAGE
    await day.post_lines(day.workshop, (day.bo, f"Shall we go there? {bot.web.url('/fair')}"))
    await day.run_command(day.cleo, day.workshop, "ask", question="What does a stall at the fair cost?")
    day.print_title("13:20  Ada schedules a digest of #workshop; a week goes by, and it comes")
    await day.run_command(day.ada, day.workshop, "digest", schedule="weekly monday 9:00 Europe/Berlin")
    await day.receive_digest(day.cleo, day.workshop, bot)


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
        async with start("discord", access) as bot:
            await discord.wait_until_connected()
            await day.sleep()
            said = await morning(day)
            asked = await noon(day)
            await review(day, bot)
            await channel_care(day, bot)
            await afternoon(day, said, asked)
            await evening(day)
    return discord


if __name__ == "__main__":
    run_main(__doc__, run_day)
