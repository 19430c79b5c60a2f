"""Either platform as a town in which the bot may be killed: a channel that it reads, and what goes wrong there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from tests.demos.slack_day import load_manifest
from tests.support.discord_server import FakeDiscord, Permission
from tests.support.discord_server import File as DiscordFile
from tests.support.discord_server.faults import Fault as DiscordFault
from tests.support.slack_server import FakeSlack
from tests.support.slack_server import Fault as SlackFault
from tests.support.slack_server import File as SlackFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from tests.support.discord_server import Message
    from tests.support.discord_server.routing import ApiCall
    from tests.support.slack_server import SentMessage

PATIENCE = 60.0
FACT = "The password of the safe is agate."
OFTEN = 99  # times that a call goes wrong
STATUS = "assistant.threads.setStatus"
THREADS = "/channels/{channel}/messages/{message}/threads"
MESSAGE = "/channels/{channel}/messages/{message}"
REACTION = "/channels/{channel}/messages/{message}/reactions/{emoji}/@me"


@dataclass(frozen=True, slots=True)
class VisibleAnswer:
    """An answer on a screen; `whole`: nothing shows that more will come."""

    text: str
    sources: str
    is_complete: bool


class Town(Protocol):
    """A platform with a channel in which the bot reads and answers."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *how: object) -> None: ...

    @property
    def environment(self) -> dict[str, str]:
        """What the bot must know to find it."""

    @property
    def is_connected(self) -> bool:
        """Whether a bot is there."""

    async def set_up(self) -> None:
        """Make the channel one that is read, and say something in it."""

    async def ask(self, text: str) -> Any: ...

    def answers(self, asked: Any) -> list[VisibleAnswer]:
        """All that the bot said to a question."""

    async def share_file(self, name: str, text: str) -> Any:
        """Somebody shares a file."""

    def list_reactions(self, dropped: Any) -> list[str]:
        """The reactions on it."""

    def hang_first_reply(self) -> Callable[[], bool]:
        """The first thing to be seen of an answer is not done; gives whether it was tried."""

    def hang_download(self) -> None:
        """No file is given out."""

    def hang_reactions(self) -> Callable[[], bool]:
        """No reaction is put or taken away; gives whether that was tried."""

    def lose_last_write(self) -> None:
        """The last write of an answer is done, but the bot is not told so."""

    def clear_faults(self) -> None:
        """All goes well again."""

    @property
    def pings(self) -> Sequence[object]:
        """Whom the bot made look."""


class SlackTown:
    """On Slack."""

    def __init__(self) -> None:
        self._slack = FakeSlack(load_manifest())
        self._ada = self._slack.user("Ada")
        self._room = self._slack.channel("vault", members=[self._ada])

    async def __aenter__(self) -> Self:
        await self._slack.__aenter__()
        return self

    async def __aexit__(self, *how: object) -> None:
        await self._slack.__aexit__(*how)

    @property
    def environment(self) -> dict[str, str]:
        app = self._slack.space.app
        return {
            "THREADLORE_SLACK_BOT_TOKEN": app.bot_token,
            "THREADLORE_SLACK_APP_TOKEN": app.app_token,
            "THREADLORE_SLACK_API_BASE": self._slack.base_url,
        }

    @property
    def is_connected(self) -> bool:
        return bool(self._slack.socket.ready)

    async def set_up(self) -> None:
        await self._ada.says(self._room, FACT)

    async def ask(self, text: str) -> SentMessage:
        asked = await self._ada.mentions(self._room, text)
        await self._slack.wait_until_delivered(PATIENCE)
        return asked

    def answers(self, asked: SentMessage) -> list[VisibleAnswer]:
        seen = self._slack.sees(self._ada, self._room)
        status = next(each.status for each in seen.entries if each.ts == asked.ts)
        return [
            VisibleAnswer(
                each.text,
                "\n".join(f"{label} {url}" for label, url in each.sources),
                not (each.writing or each.broken or status) and bool(each.buttons),
            )
            for each in self._slack.replies(self._ada, self._room, asked.ts)
        ]

    async def share_file(self, name: str, text: str) -> SentMessage:
        return await self._ada.says(self._room, "Read this.", files=[SlackFile(name, text.encode(), "text/markdown")])

    def list_reactions(self, dropped: SentMessage) -> list[str]:
        seen = self._slack.sees(self._ada, self._room)
        return [name for each in seen.entries if each.ts == dropped.ts for name, _ in each.reactions]

    def hang_first_reply(self) -> Callable[[], bool]:
        return self._hang(STATUS)

    def hang_download(self) -> None:
        self._slack.fail_next("download", SlackFault("hang"), OFTEN)

    def hang_reactions(self) -> Callable[[], bool]:
        return self._hang("reactions.add", "reactions.remove")

    def lose_last_write(self) -> None:
        self._slack.fail_next("chat.stopStream", SlackFault("lost"), OFTEN)
        self._slack.fail_next("chat.update", SlackFault("hang"), OFTEN)

    def clear_faults(self) -> None:
        self._slack.faults.clear()

    @property
    def pings(self) -> Sequence[object]:
        return self._slack.space.pings

    def _hang(self, *methods: str) -> Callable[[], bool]:
        before = len(self._slack.calls_to(*methods))
        for method in methods:
            self._slack.fail_next(method, SlackFault("hang"), OFTEN)
        return lambda: len(self._slack.calls_to(*methods)) > before


class LastWriteFault(DiscordFault):
    """A fault of the writes that put buttons below a message."""

    def matches(self, call: ApiCall) -> bool:
        return bool(call.body.get("components")) and super().matches(call)


class DiscordTown:
    """On Discord."""

    def __init__(self) -> None:
        self._discord = discord = FakeDiscord()
        self._guild = discord.guild("Club")
        self._ada = discord.member(
            self._guild, "Ada", roles=[discord.role(self._guild, "Board", Permission.MANAGE_GUILD)]
        )
        self._room = discord.channel(self._guild, "vault")

    async def __aenter__(self) -> Self:
        await self._discord.__aenter__()
        return self

    async def __aexit__(self, *how: object) -> None:
        await self._discord.__aexit__(*how)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "THREADLORE_DISCORD_BOT_TOKEN": self._discord.token,
            "THREADLORE_DISCORD_API_BASE": self._discord.api,
            "THREADLORE_DISCORD_GATEWAY_URL": self._discord.gateway_url,
        }

    @property
    def is_connected(self) -> bool:
        return self._discord.gateway.connected

    async def set_up(self) -> None:
        await self._ada.slash("settings", here=self._room, setting="ingest", value="on")
        await self._discord.wait_for(lambda: any(each.bot for each in self._posts()), PATIENCE)
        await self._ada.says(self._room, FACT)

    async def ask(self, text: str) -> Message:
        return await self._ada.says(self._room, f"{self._discord.bot(self._guild).mention} {text}")

    def answers(self, asked: Message) -> list[VisibleAnswer]:
        if asked.thread is None:
            return []
        posts = [each for each in self._discord.sees(self._ada, asked.thread).posts if each.bot]
        shown = [(each, *each.content.partition("**Sources**")[::2]) for each in posts]
        return [VisibleAnswer(text, sources, bool(each.buttons)) for each, text, sources in shown]

    async def share_file(self, name: str, text: str) -> Message:
        file = DiscordFile(name, text.encode(), "text/markdown")
        return await self._ada.says(self._room, "Read this.", files=[file])

    def list_reactions(self, dropped: Message) -> list[str]:
        return [sign for each in self._posts() if each.message is dropped for sign in each.reactions]

    def hang_first_reply(self) -> Callable[[], bool]:
        return self._hang(("POST", THREADS))

    def hang_download(self) -> None:
        self._discord.fail_next("GET", "/attachments", "hang", times=OFTEN)

    def hang_reactions(self) -> Callable[[], bool]:
        return self._hang(("PUT", REACTION), ("DELETE", REACTION))

    def lose_last_write(self) -> None:
        self._discord.rest.faults.append(LastWriteFault("PATCH", MESSAGE, "lost", times=OFTEN))

    def clear_faults(self) -> None:
        self._discord.rest.faults.clear()

    @property
    def pings(self) -> Sequence[object]:
        return self._discord.pings

    def _posts(self) -> Sequence[Any]:
        return self._discord.sees(self._ada, self._room).posts

    def _hang(self, *routes: tuple[str, str]) -> Callable[[], bool]:
        faults = [self._discord.fail_next(method, template, "hang", times=OFTEN) for method, template in routes]
        return lambda: any(fault.times < OFTEN for fault in faults)
