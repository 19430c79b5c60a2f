"""The people and channels of a small makers' club in Discord, what they do, and what they have on their screens."""

from __future__ import annotations

from typing import Any

from bot.texts.control import STOP_BUTTON
from tests.demos.day import DayBot, Show, format_title
from tests.support.discord_server import Channel, FakeDiscord, File, Interaction, Message, Permission, Person, Post
from tests.support.discord_server.people.screen import resolve_names


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
        typed = resolve_names(self.discord.world, typed)
        self.show(f"{person.name} types in #{channel.name}: /{command} {typed}".rstrip())
        used = await person.slash(command, here=channel, **options)
        await self.show_response(person, channel, used, streamed=command == "ask")
        return used

    async def use_menu(self, person: Person, command: str, message: Message) -> None:
        """A command of a message's menu, and the answer that its user alone sees."""
        self.show(f"{person.name} opens the menu of a message in #{message.channel.name}: {command}")
        used = await person.context_menu(command, message)
        await self.show_response(person, message.channel, used, streamed=True)

    async def show_response(self, person: Person, channel: Channel, used: Interaction, *, streamed: bool) -> None:
        """Wait for the response to an interaction, and show it. `streamed`: an answer, which ends with its buttons."""

        def mine() -> list[Message]:
            return [message for message in (used.original, *used.followups) if message is not None]

        def is_complete() -> bool:
            if used.error or not streamed:
                return bool(used.error) or not any(message.loading for message in mine())
            labels = {button.get("label") for one in mine() for row in one.components for button in row["components"]}
            return bool(labels - {STOP_BUTTON})

        await self.discord.wait_for(is_complete)
        await self.sleep()
        for post in self.discord.sees(person, channel).posts:
            if post.message in mine():
                self.show(str(post))
        if used.error:
            self.show(f"! {used.error}")

    async def press_button(self, person: Person, used: Interaction, button: str) -> Interaction:
        """Somebody presses a button below an answer, and what comes of it."""
        self.show(f"{person.name} presses {button}")
        answer = next(one for one in (*reversed(used.followups), used.original) if one is not None and one.components)
        pressed = await person.clicks(answer, button)
        await self.sleep()
        self.print_screen(person, answer.channel, last=1)
        return pressed

    def print_pings(self, person: Person, channel: Channel) -> None:
        """Print the posts of the bot that mention a person."""
        posts = self.discord.sees(person, channel).posts
        self.show("\n".join(str(post) for post in posts if post.bot and f"@{person.name}" in post.text.split("\n")[0]))

    async def fill_form(self, person: Person, used: Interaction, button: str, **answers: str) -> None:
        """Press a button that opens a form, change fields of it, submit it, and show what comes of it."""
        assert used.original is not None
        modal = (await person.clicks(used.original, button)).modal
        self.show(f"{person.name} presses {button}\n┌ {modal['title']}")
        for label in modal["components"]:
            field = label.get("component", {})
            chosen = [each["label"] for each in field.get("options", ()) if each.get("default")] or [
                field.get("value", "")
            ]
            name = field.get("custom_id")
            change = f" → {answers[name]}" if name in answers else ""
            self.show(f"│ {label.get('label')}: {chosen[0]}{change}")
        self.show(f"└ {person.name} submits the form")
        submitted = await person.submits(used.channel, modal, answers)
        await self.show_response(person, used.channel, submitted, streamed=False)

    async def receive_digest(self, person: Person, channel: Channel, bot: DayBot) -> None:
        """Let a week go by, wait for the digest of a channel, and show it."""

        def posts() -> list[Post]:
            seen = self.discord.sees(person, channel).posts
            return [post for post in seen if post.bot and post.message.thread is not None and "Digest" in post.text]

        bot.move_digests()
        await self.discord.wait_for(posts)
        self.show(str(posts()[-1]))
        thread = posts()[-1].message.thread
        assert thread is not None
        await self.wait_for_answer(person, thread)
        self.print_screen(person, thread)

    async def wait_for_redaction(self, person: Person, used: Interaction) -> None:
        """Wait until an answer says that a source of it was removed, and show it."""

        def posts() -> list[Post]:
            return [post for post in self.discord.sees(person, used.channel).posts if post.message is used.original]

        await self.discord.wait_for(lambda: any("was removed" in post.text for post in posts()))
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
