"""What a person has on the screen: a channel with its threads, as a transcript."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.slack_server.rendering import Renderer

if TYPE_CHECKING:
    from tests.support.slack_server.server import Server
    from tests.support.slack_server.state import Channel, Message, User

EMOJI = {"hourglass_flowing_sand": "⏳", "white_check_mark": "✅", "warning": "⚠️", "eyes": "👀"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A message on a screen.

    `text` is all of it, line by line; `body` only what was written as Markdown or text. `private`: only the viewer
    sees it; `writing`: it still grows; `broken`: Slack ended its stream. `links` and `sources` as (label, address);
    `status` is the line below its thread while the app works.
    """

    ts: str
    channel: str
    author: str
    text: str
    body: str
    links: tuple[tuple[str, str], ...]
    sources: tuple[tuple[str, str], ...]
    buttons: tuple[str, ...]
    reactions: tuple[tuple[str, int], ...]
    files: tuple[str, ...]
    previews: tuple[str, ...]
    edited: bool
    private: bool
    writing: bool
    broken: bool
    status: str
    replies: tuple[Entry, ...] = ()

    def lines(self, indent: str = "") -> list[str]:
        """The message and its replies as they are printed."""
        marks = {
            " (only visible to you)": self.private,
            " (edited)": self.edited,
            " (writing …)": self.writing,
            " (⚠ interrupted)": self.broken,
        }
        first, *rest = self.text.split("\n")
        head = f"{self.author}{''.join(mark for mark, is_set in marks.items() if is_set)}: {first}"
        below = [*rest, *(f"📄 {name}" for name in self.files), *(f"↪ {url}" for _, url in self.sources)]
        below += [f"▏preview: {preview}" for preview in self.previews]
        if self.buttons:
            below.append(" ".join(f"[ {label} ]" for label in self.buttons))
        if self.reactions:
            below.append("  ".join(f"{EMOJI[name]} {count}" for name, count in self.reactions))
        lines = [head, *(f"    {line}" for line in below)]
        lines += [f"  │ {line}" for reply in self.replies for line in reply.lines()]
        lines += [f"  │ … {self.status}"] if self.status else []
        return [indent + line for line in lines]

    def __str__(self) -> str:
        return "\n".join(self.lines())


@dataclass(frozen=True, slots=True)
class Screen:
    """A channel as one person sees it; `is_open` is False if they may not see it."""

    title: str
    entries: tuple[Entry, ...]
    is_open: bool = True
    prompts: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.is_open:
            return f"{self.title}\n(nothing to be seen here)"
        lines = [line for entry in self.entries for line in entry.lines()]
        return "\n".join([self.title, *lines, *(f"  ▸ {prompt}" for prompt in self.prompts)])

    def __contains__(self, text: str) -> bool:
        return text in str(self)

    def all_entries(self) -> list[Entry]:
        """Every message, replies after their root."""
        return [reply for entry in self.entries for reply in (entry, *entry.replies)]

    def thread(self, ts: str) -> tuple[Entry, ...]:
        """The replies to a message."""
        return next((entry.replies for entry in self.entries if entry.ts == ts), ())


def build_screen(slack: Server, viewer: User, channel: Channel) -> Screen:
    """What a person sees of a channel now."""
    title = f"#{channel.name}" if channel.kind != "im" else f"{slack.space.app.name} (direct)"
    title += {"private": " 🔒", "mpim": " 👥"}.get(channel.kind, "") + (" ⇄" if channel.shared else "")
    if not can_view(viewer, channel):
        return Screen(title, (), is_open=False)
    private = [
        ephemeral_message for ephemeral_message in channel.ephemeral_messages if ephemeral_message.only_for == viewer.id
    ]
    shown = sorted([*channel.messages.values(), *private], key=lambda message: message.ts)
    replies: dict[str, list[Entry]] = {}
    for message in shown:
        if message.is_reply:
            replies.setdefault(message.thread_ts, []).append(_build_entry(slack, viewer, message))
    entries = [
        _build_entry(slack, viewer, root, tuple(replies.pop(root.ts, ()))) for root in shown if not root.is_reply
    ]
    entries += [entry for orphans in replies.values() for entry in orphans]
    return Screen(title, tuple(entries), prompts=tuple(prompt["title"] for prompt in channel.prompts))


def can_view(viewer: User, channel: Channel) -> bool:
    """Members can; full members of the workspace can view public channels."""
    is_full = viewer.kind == "member" and not viewer.deleted and viewer.team.startswith("T0SMALL")
    return viewer.id in channel.members or (is_full and channel.kind == "public" and not channel.archived)


def _build_entry(slack: Server, viewer: User, message: Message, replies: tuple[Entry, ...] = ()) -> Entry:
    slack.end_if_expired(message)
    space, face = slack.space, Renderer(slack.space, viewer.id).render(message)
    status, at = space.channels[message.channel].statuses.get(message.ts, ("", 0.0))
    is_visible = status and slack.clock.time() - at < slack.limits.status_life
    return Entry(
        ts=message.ts,
        channel=message.channel,
        author=space.users["USLACKBOT" if message.subtype == "tombstone" else message.user].name,
        text="\n".join(face.lines),
        body="".join(face.body),
        links=tuple(face.links),
        sources=tuple(face.sources),
        buttons=tuple(label for label, *_ in face.buttons),
        reactions=tuple((name, len(users)) for name, users in message.reactions.items()),
        files=tuple("(this file was deleted)" if file.deleted else file.name for file in message.files),
        previews=tuple(preview.get("title") or preview["fallback"] for preview in message.previews),
        edited=bool(message.edited) and message.user != space.bot.id,
        private=bool(message.only_for),
        writing=message.stream is not None and message.stream.state == "in_progress",
        broken=message.stream is not None and message.stream.state == "expired",
        status=f"{space.app.name} {status}" if is_visible else "",
        replies=replies,
    )
