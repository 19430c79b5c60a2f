"""What a person sees in a channel: its messages with names in place of ids."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.discord_server.model import Channel, Message, MessageType, User
from tests.support.discord_server.permissions import Permission

if TYPE_CHECKING:
    from tests.support.discord_server.model import Json
    from tests.support.discord_server.world import World

MENTION = re.compile(r"<(@!?|@&|#)(\d+)>")
QUIET_URL = re.compile(r"<(https?://[^\s>]+)>")
DELETED = "Original message was deleted"
EXCERPT_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Post:
    """One message on the screen; `message` is its record."""

    message: Message
    author: str
    content: str
    buttons: tuple[str, ...] = ()
    reactions: dict[str, int] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    previews: tuple[str, ...] = ()
    reply_to: str = ""
    thread: str = ""
    bot: bool = False
    private: bool = False
    thinking: bool = False
    edited: bool = False

    @property
    def text(self) -> str:
        return self.content.strip()

    def __str__(self) -> str:
        head = self.author + (" [APP]" if self.bot else "") + (" (only you can see this)" if self.private else "")
        body = "… is thinking" if self.thinking else self.content + (" (edited)" if self.edited else "")
        lines = [f"  ↱ {self.reply_to}"] if self.reply_to else []
        lines.append(f"{head}: {body}".replace("\n", "\n    ").rstrip())
        lines += [f"    📎 {name}" for name in self.files] + [f"    🔗 preview of {url}" for url in self.previews]
        lines += ["    " + " ".join(f"[{label}]" for label in self.buttons)] if self.buttons else []
        counts = "  ".join(f"{emoji} {count}" for emoji, count in self.reactions.items())
        lines += [f"    {counts}"] if counts else []
        lines += [f"    └ thread: {self.thread}"] if self.thread else []
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Screen:
    """A channel as one person sees it; a hidden channel has no posts."""

    title: str
    posts: tuple[Post, ...] = ()
    hidden: bool = False
    failures: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(post.text for post in self.posts)

    @property
    def last(self) -> Post:
        return self.posts[-1]

    def __str__(self) -> str:
        if self.hidden:
            return f"{self.title}\n(hidden)"
        return "\n".join([self.title, *map(str, self.posts), *self.failures])


def build_screen(world: World, user: User, channel: Channel) -> Screen:
    """What a user sees in a channel now."""
    powers = world.permissions_of(user, channel)
    title = _title(channel)
    if channel.deleted or Permission.VIEW_CHANNEL not in powers:
        return Screen(title, hidden=True)
    messages = sorted(channel.messages.values(), key=lambda one: int(one.id))
    readable = [one for one in messages if one.seen_by in {"", user.id}]
    posts = [_post(world, one) for one in readable] if Permission.READ_MESSAGE_HISTORY in powers else []
    mine = [one for one in world.interactions.values() if one.user is user and one.channel is channel]
    return Screen(title, tuple(posts), failures=tuple(f"! /{one.name}: {one.error}" for one in mine if one.error))


def resolve_names(world: World, text: str) -> str:
    """Replace ids by names, and remove the brackets that suppress previews."""

    def name(match: re.Match[str]) -> str:
        sign, ident = match.groups()
        if sign == "#":
            return f"#{world.channels[ident].name}" if ident in world.channels else "#unknown"
        if sign == "@&":
            roles = {role.id: role.name for guild in world.guilds.values() for role in guild.roles.values()}
            return f"@{roles.get(ident, 'unknown-role')}"
        return f"@{world.users[ident].name}" if ident in world.users else "@unknown-user"

    return QUIET_URL.sub(r"\1", MENTION.sub(name, text))


def _title(channel: Channel) -> str:
    if channel.guild is None:
        return "Direct messages"
    return f"#{channel.parent.name} › {channel.name}" if channel.parent is not None else f"#{channel.name}"


def _post(world: World, message: Message) -> Post:
    starts_thread = message.kind is MessageType.THREAD_STARTER
    shown = message.replied if starts_thread and message.replied is not None else message
    buttons = [button for row in message.components for button in row["components"]]
    return Post(
        message=message,
        author=shown.author.name,
        content=f"({DELETED})" if shown.deleted else resolve_names(world, shown.content),
        buttons=tuple(_label(button) for button in buttons),
        reactions={emoji: len(users) for emoji, users in shown.reactions.items()},
        files=tuple(attachment.file.name for attachment in shown.attachments),
        previews=tuple(shown.previews),
        reply_to="" if starts_thread else _reply_line(world, message),
        thread=message.thread.name if message.thread is not None and not message.thread.deleted else "",
        bot=shown.author.bot,
        private=bool(message.seen_by),
        thinking=message.loading,
        edited=message.edited is not None,
    )


def _reply_line(world: World, message: Message) -> str:
    """What a message replies to, or the command that it answers."""
    if (replied := message.replied) is not None:
        text = resolve_names(world, replied.content).replace("\n", " ")
        excerpt = text[:EXCERPT_LENGTH] + ("…" if len(text) > EXCERPT_LENGTH else "")
        return DELETED if replied.deleted else f"{replied.author.name}: {excerpt}"
    if message.interaction is not None and message.interaction.name:
        return f"{message.interaction.user.name} used /{message.interaction.name}"
    return ""


def _label(button: Json) -> str:
    emoji = (button.get("emoji") or {}).get("name")
    return " ".join(filter(None, [emoji, button.get("label")]))
