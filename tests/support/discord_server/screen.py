"""What somebody sees on the screen: a channel's messages as they stand, with names instead of ids."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.discord_server.component_rules import walk
from tests.support.discord_server.model import Channel, Message, MessageFlag, MessageType, User
from tests.support.discord_server.permissions import Permission

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

MENTION = re.compile(r"<(@!?|@&|#)(\d+)>")
QUIET_URL = re.compile(r"<(https?://[^\s>]+)>")


@dataclass(frozen=True, slots=True)
class Post:
    """One message on the screen; `message` is the record behind it."""

    message: Message
    author: str
    content: str
    embeds: tuple[str, ...] = ()
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
        """All that can be read in it."""
        return "\n".join([self.content, *self.embeds]).strip()

    def __str__(self) -> str:
        head = self.author + (" [APP]" if self.bot else "") + (" (only you can see this)" if self.private else "")
        lines = [f"  ↱ {self.reply_to}"] if self.reply_to else []
        body = "… is thinking" if self.thinking else self.content + (" (edited)" if self.edited else "")
        lines += [f"{head}: {body}".replace("\n", "\n    ").rstrip()]
        for embed in self.embeds:
            lines += [f"    ┃ {line}" for line in embed.split("\n")]
        lines += [f"    📎 {name}" for name in self.files]
        lines += [f"    🔗 preview of {url}" for url in self.previews]
        if self.buttons:
            lines.append("    " + " ".join(f"[{label}]" for label in self.buttons))
        if self.reactions:
            lines.append("    " + "  ".join(f"{emoji} {count}" for emoji, count in self.reactions.items()))
        if self.thread:
            lines.append(f"    └ thread: {self.thread}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Screen:
    """A channel as one person sees it; hidden from them: no posts."""

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

    def by(self, author: str) -> list[Post]:
        """What one of them said."""
        return [post for post in self.posts if post.author == author]

    def __str__(self) -> str:
        if self.hidden:
            return f"{self.title}\n(hidden)"
        return "\n".join([self.title, *map(str, self.posts), *self.failures])


def build_screen(world: World, user: User, channel: Channel) -> Screen:
    """What somebody sees in a channel now."""
    powers = world.permissions_of(user, channel)
    title = _title(channel)
    if channel.deleted or Permission.VIEW_CHANNEL not in powers:
        return Screen(title, hidden=True)
    messages = sorted(channel.messages.values(), key=lambda one: int(one.id))
    seen = (
        [one for one in messages if one.seen_by in {"", user.id}] if Permission.READ_MESSAGE_HISTORY in powers else []
    )
    failures = [
        f"! /{one.name}: {one.error}" if one.name else f"! {one.error}"
        for one in world.interactions.values()
        if one.error and one.user is user and one.channel is channel
    ]
    return Screen(title, tuple(_post(world, one) for one in seen), failures=tuple(failures))


def _title(channel: Channel) -> str:
    if channel.guild is None:
        return "Direct messages"
    if channel.thread is not None and channel.parent is not None:
        return f"#{channel.parent.name} › {channel.name}"
    return f"#{channel.name}"


def _post(world: World, message: Message) -> Post:
    starter = message.kind is MessageType.THREAD_STARTER
    orphan = starter and (message.replied is None or message.replied.deleted)
    shown = message.replied if starter and not orphan and message.replied is not None else message
    guild = message.channel.guild
    member = guild.members.get(shown.author.id) if guild else None
    reply = message.replied if not starter else None
    reply_to = ""
    if message.reference is not None and not starter:
        gone = reply is None or reply.deleted
        reply_to = "Original message was deleted" if gone or reply is None else _excerpt(world, reply)
    elif message.interaction is not None and message.interaction.name and not message.followup:
        reply_to = f"{message.interaction.user.name} used /{message.interaction.name}"
    return Post(
        message=message,
        author=(member.nick if member else "") or shown.author.name,
        content="(Original message was deleted)" if orphan else resolve_names(world, shown.content),
        embeds=()
        if MessageFlag.SUPPRESS_EMBEDS in shown.flags
        else tuple(_embed(world, embed) for embed in shown.embeds),
        buttons=tuple(_label(one) for one in walk(message.components) if one.get("type") == 2),
        reactions={emoji: len(users) for emoji, users in shown.reactions.items()},
        files=tuple(attachment.file.name for attachment in shown.attachments),
        previews=tuple(shown.previews),
        reply_to=reply_to,
        thread=message.thread.name if message.thread is not None and not message.thread.deleted else "",
        bot=shown.author.bot,
        private=bool(message.seen_by),
        thinking=message.loading,
        edited=message.edited is not None,
    )


def resolve_names(world: World, text: str) -> str:
    """Names in place of ids, and addresses without the brackets that keep them from being previewed."""

    def name(match: re.Match[str]) -> str:
        sign, ident = match.groups()
        if sign == "#":
            channel = world.channels.get(ident)
            return f"#{channel.name}" if channel and not channel.deleted else "#unknown"
        if sign == "@&":
            roles = {role.id: role.name for guild in world.guilds.values() for role in guild.roles.values()}
            return f"@{roles.get(ident, 'unknown-role')}"
        return f"@{world.users[ident].name}" if ident in world.users else "@unknown-user"

    return QUIET_URL.sub(r"\1", MENTION.sub(name, text))


def _excerpt(world: World, message: Message) -> str:
    text = resolve_names(world, message.content).replace("\n", " ")
    return f"{message.author.name}: {text[:60]}{'…' if len(text) > 60 else ''}"


def _embed(world: World, embed: dict[str, object]) -> str:
    parts = [str(embed.get("title") or ""), resolve_names(world, str(embed.get("description") or ""))]
    fields = embed.get("fields")
    if isinstance(fields, list):
        parts += [f"{one['name']}: {resolve_names(world, one['value'])}" for one in fields]
    footer = embed.get("footer")
    parts.append(str(footer.get("text") or "") if isinstance(footer, dict) else "")
    return "\n".join(part for part in parts if part)


def _label(button: dict[str, object]) -> str:
    emoji = button.get("emoji")
    sign = str(emoji.get("name") or "") if isinstance(emoji, dict) else ""
    return f"{sign} {button.get('label') or ''}".strip()
