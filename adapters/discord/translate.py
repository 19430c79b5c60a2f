"""Convert discord.py objects to bot.platform.models. Pure."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import discord

from adapters.discord.guild.message_text import render_message
from bot.platform.models import Location, Message, Person, Upload
from bot.text.speech.mentions import calls_another

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "discord"

AnyChannel: TypeAlias = (
    "discord.abc.GuildChannel | discord.Thread | discord.abc.PrivateChannel | discord.PartialMessageable"
)

_SYSTEM_TYPES = {discord.MessageType.thread_starter_message}


def location_of(channel: AnyChannel) -> Location:
    """The location of a channel or thread; a private thread counts as a channel of its own."""
    if isinstance(channel, discord.Thread):
        return thread_location(channel.guild.id, channel.id, channel.parent_id, private=channel.is_private())
    guild = getattr(channel, "guild_id", None) or getattr(getattr(channel, "guild", None), "id", "")
    return Location(NAME, str(guild), str(getattr(channel, "id", "")))


def thread_location(guild: int, thread: int, parent: int, *, private: bool) -> Location:
    """The location of a thread: in its parent, or, if it is private, a channel of its own."""
    return Location(NAME, str(guild), str(thread if private else parent), str(thread))


def is_user_message(message: discord.Message) -> bool:
    """Whether a message has an author, unlike Discord's system messages (“… started a thread”)."""
    return not message.is_system() and message.type not in _SYSTEM_TYPES


def is_addressed(message: discord.Message, me: discord.abc.Snowflake) -> bool:
    """Whether a message addresses the bot: by a mention of it or its role, or by a reply to it."""
    if me.id in message.raw_mentions or any(user.id == me.id for user in message.mentions):
        return True
    if any(role.tags is not None and role.tags.bot_id == me.id for role in message.role_mentions):
        return True
    return _reply_target_author(message) == me.id


def message_of(message: discord.Message, location: Location, me: discord.abc.Snowflake) -> Message:
    """Convert a message; `me` is the bot. Messages of other bots never address it.

    The first message of a forum post has the post's title.
    """
    thread = message.channel if isinstance(message.channel, discord.Thread) else None
    by_bot = message.author.bot or message.webhook_id is not None
    rendered = render_message(_payload_of(message), by_bot=by_bot)
    return Message(
        id=str(message.id),
        location=location,
        author=str(message.author.id),
        text=rendered.text,
        time=message.created_at,
        uploads=tuple(map(upload_of, _attachments(message))),
        edited=message.edited_at.isoformat() if message.edited_at else "",
        by_bot=by_bot,
        title=thread.name if thread is not None and thread.id == message.id else "",
        own=message.author.id == me.id,
        addressed=not by_bot and (not location.workspace or is_addressed(message, me)),
        calls_another=calls_another(rendered.text, (str(me.id),)),
        replies_to=_reply_target_id(message),
        forwarded=rendered.forwarded,
        previews=rendered.previews,
    )


def person_of(user: discord.Member | discord.User) -> Person:
    """Convert a user; one who is not a member of the guild is a guest."""
    is_member = isinstance(user, discord.Member)
    is_manager = isinstance(user, discord.Member) and user.guild_permissions.manage_guild
    return Person(str(user.id), user.display_name, is_guest=not is_member, is_bot=user.bot, is_manager=is_manager)


def upload_of(attachment: discord.Attachment) -> Upload:
    """Convert an attachment. Discord keeps only ASCII letters of its file name, and the rest as its title."""
    kind = (attachment.content_type or "").partition(";")[0]
    suffix = PurePath(attachment.filename).suffix
    title = (attachment.title or "").strip()
    name = title if not title or title.endswith(suffix) else f"{title}{suffix}"
    return Upload(str(attachment.id), name or attachment.filename, attachment.size, kind, attachment.url)


def fingerprint(message: Message) -> str:
    """Hash a message's content, to detect edits."""
    state = "\0".join([message.content, message.edited, *(upload.id for upload in message.uploads)])
    return blake2b(state.encode(), digest_size=8).hexdigest()


def _reply_target_id(message: discord.Message) -> str:
    """The id of the message that this one replies to; empty if it is not a reply."""
    reference = message.reference if message.type is discord.MessageType.reply else None
    return str(reference.message_id or "") if reference is not None else ""


def _reply_target_author(message: discord.Message) -> int | None:
    """The author id of the message that this one replies to; None if unknown."""
    if message.type is not discord.MessageType.reply or message.reference is None:
        return None
    replied = message.reference.resolved
    return replied.author.id if isinstance(replied, discord.Message) else None


def _payload_of(message: discord.Message) -> dict[str, Any]:
    """The fields of the API's message object that have words."""
    reference = message.reference
    return _content_of(message) | {
        "poll": _poll_of(message.poll) if message.poll is not None else {},
        "message_reference": {"channel_id": str(reference.channel_id)} if reference is not None else {},
        "message_snapshots": [
            {"message": _content_of(snapshot) | {"timestamp": snapshot.created_at.isoformat()}}
            for snapshot in message.message_snapshots
        ],
    }


def _content_of(message: discord.Message | discord.MessageSnapshot) -> dict[str, Any]:
    return {
        "content": message.content,
        "embeds": [embed.to_dict() for embed in message.embeds],
        "components": [component.to_dict() for component in message.components],
        "attachments": [
            {"title": attachment.title, "filename": attachment.filename, "description": attachment.description}
            for attachment in message.attachments
        ],
    }


def _poll_of(poll: discord.Poll) -> dict[str, Any]:
    """A poll without its votes, which change without news."""
    answers = [
        {"poll_media": {"text": answer.text, "emoji": {"name": str(answer.emoji or "")}}} for answer in poll.answers
    ]
    return {"question": {"text": poll.question}, "answers": answers}


def _attachments(message: discord.Message) -> Iterator[discord.Attachment]:
    yield from message.attachments
    for snapshot in message.message_snapshots:
        yield from snapshot.attachments
