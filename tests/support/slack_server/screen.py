"""What a person has on the screen: a channel with its threads, as a transcript."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.slack_server.rendering import Renderer

if TYPE_CHECKING:
    from tests.support.slack_server.server import Server
    from tests.support.slack_server.state import Channel, Message, User

EMOJI = {
    "hourglass_flowing_sand": "⏳", "hourglass": "⌛", "white_check_mark": "✅", "warning": "⚠️", "eyes": "👀",
    "+1": "👍", "-1": "👎", "thumbsup": "👍", "thumbsdown": "👎", "x": "❌",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """One message as it is seen.

    `text` is all of it, line by line; `body` only what was written as Markdown or text, undrawn, without tasks and
    what is below; `literal`: marks of Markdown which stand there as such. `private`: only the viewer sees it;
    `writing`: it still grows; `broken`: Slack ended it, and says so; `links` and `sources` as (label, address);
    `status` is the line below its thread while the app works.
    """

    ts: str
    channel: str
    author: str
    text: str
    body: str = ""
    literal: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    buttons: tuple[str, ...] = ()
    reactions: tuple[tuple[str, int], ...] = ()
    files: tuple[str, ...] = ()
    previews: tuple[str, ...] = ()
    edited: bool = False
    private: bool = False
    writing: bool = False
    broken: bool = False
    status: str = ""
    replies: tuple[Entry, ...] = ()

    def lines(self, indent: str = "") -> list[str]:
        """As it is printed."""
        marks = "".join(
            mark
            for mark, there in (
                (" (only visible to you)", self.private), (" (edited)", self.edited),
                (" (writing …)", self.writing), (" (⚠ interrupted)", self.broken),
            )
            if there
        )  # fmt: skip
        first, *rest = self.text.split("\n")
        made = [f"{indent}{self.author}{marks}: {first}", *(f"{indent}    {line}" for line in rest)]
        made += [f"{indent}    📄 {name}" for name in self.files]
        made += [f"{indent}    ↪ {url}" for _, url in self.sources]
        made += [f"{indent}    ▏preview: {preview}" for preview in self.previews]
        if self.buttons:
            made.append(f"{indent}    " + " ".join(f"[ {label} ]" for label in self.buttons))
        if self.reactions:
            shown = "  ".join(f"{EMOJI.get(name, f':{name}:')} {count}" for name, count in self.reactions)
            made.append(f"{indent}    {shown}")
        for reply in self.replies:
            made += reply.lines(indent + "  │ ")
        if self.status:
            made.append(f"{indent}  │ … {self.status}")
        return made

    def __str__(self) -> str:
        return "\n".join(self.lines())


@dataclass(frozen=True, slots=True)
class Screen:
    """A channel as one person sees it; `open` is False if they may not look into it."""

    title: str
    entries: tuple[Entry, ...]
    is_open: bool = True
    prompts: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.is_open:
            return f"{self.title}\n(nothing to be seen here)"
        lines = [self.title]
        for entry in self.entries:
            lines += entry.lines()
        lines += [f"  ▸ {prompt}" for prompt in self.prompts]
        return "\n".join(lines)

    def __contains__(self, text: str) -> bool:
        return text in str(self)

    def all_entries(self) -> list[Entry]:
        """Every message, replies behind their root."""
        return [each for entry in self.entries for each in (entry, *entry.replies)]

    def thread(self, ts: str) -> tuple[Entry, ...]:
        """The replies to a message."""
        return next((entry.replies for entry in self.entries if entry.ts == ts), ())


def build_screen(slack: Server, viewer: User, channel: Channel) -> Screen:
    """What somebody sees of a channel now."""
    title = f"#{channel.name}" if channel.kind != "im" else f"{slack.space.app.name} (direct)"
    title += {"private": " 🔒", "mpim": " 👥"}.get(channel.kind, "") + (" ⇄" if channel.shared else "")
    if not can_view(viewer, channel):
        return Screen(title, (), is_open=False)
    said = [*channel.messages.values(), *(each for each in channel.ephemeral_messages if each.only_for == viewer.id)]
    said.sort(key=lambda message: message.ts)
    renderer = Renderer(slack.space, viewer.id)
    replies: dict[str, list[Entry]] = {}
    for message in said:
        if message.is_reply:
            replies.setdefault(message.thread_ts, []).append(_entry(slack, renderer, message, ()))
    roots = [message for message in said if not message.is_reply]
    entries = [_entry(slack, renderer, root, tuple(replies.pop(root.ts, ()))) for root in roots]
    entries += [entry for orphans in replies.values() for entry in orphans]
    return Screen(title, tuple(entries), prompts=tuple(prompt["title"] for prompt in channel.prompts))


def can_view(viewer: User, channel: Channel) -> bool:
    """Members always; full members of the workspace into public channels."""
    full = viewer.kind == "member" and channel.kind == "public" and not viewer.deleted
    return viewer.id in channel.members or (full and not channel.archived and viewer.team.startswith("T0SMALL"))


def _entry(slack: Server, renderer: Renderer, message: Message, replies: tuple[Entry, ...]) -> Entry:
    slack.end_if_expired(message)
    face = renderer.render(message)
    author = slack.space.users["USLACKBOT" if message.subtype == "tombstone" else message.user].name
    files = ["(this file was deleted)" if each.deleted else each.name for each in message.files]
    stream = message.stream
    return Entry(
        ts=message.ts,
        channel=message.channel,
        author=author,
        text="\n".join(face.lines),
        body="".join(face.body),
        literal=tuple(face.literal),
        links=tuple(face.links),
        sources=tuple(face.sources),
        buttons=tuple(label for label, *_ in face.buttons),
        reactions=tuple((name, len(users)) for name, users in message.reactions.items()),
        files=tuple(files),
        previews=tuple(preview["title"] for preview in message.previews),
        edited=bool(message.edited) and message.user != slack.space.bot.id,
        private=bool(message.only_for),
        writing=stream is not None and stream.state == "in_progress",
        broken=stream is not None and stream.state == "expired",
        status=_status(slack, slack.space.channels[message.channel], message.ts),
        replies=replies,
    )


def _status(slack: Server, channel: Channel, root: str) -> str:
    status = channel.statuses.get(root)
    if status is None or slack.clock.now() - status.at >= slack.limits.status_life:
        return ""
    return f"{slack.space.app.name} {status.text}"
