"""Who can find what somebody shares, in one sentence. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bot.i18n import N_, gettext
from bot.text.format import format_list, pluralize
from bot.text.markdown import escape_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.platform.models import Channel

ReadingRule = Literal["member", "own", "workspace", "adult"]  # as the rules of grants
REASONS: dict[ReadingRule, str] = {  # why somebody may read a source
    "member": N_("You can see this because you are a member of #{channel}."),
    "own": N_("You can see this because it is in your direct messages with me."),
    "workspace": N_("You can see this because #{channel} is open to everyone of this workspace."),
    "adult": N_("You can see this because #{channel} is open to everyone who sees age-restricted channels here."),
}
IMPORTED_REASONS: dict[ReadingRule, str] = {  # the same, where the channel is not known by a name
    "member": N_("You can see this because you are a member of its channel."),
    "own": N_("You can see this because it is in your direct messages with me."),
    "workspace": N_("You can see this because it is open to everyone of this workspace."),
    "adult": N_("You can see this because it is open to everyone who sees age-restricted channels here."),
}
ONLY_YOU = N_("Only you can find this, in private answers and in direct messages with me.")
ALL_MEMBERS = N_("Every member here can find this, and it shows in this channel's digests and catch-ups.")
ADULT_MEMBERS = N_("Every member who can see age-restricted channels can find this.")
SHARED_READERS = N_("Everyone in #{channel} can find this, including people from other organizations.")
ONLY_MEMBERS = N_("Only the {members} of #{channel} can find this, also in digests and catch-ups.")
CHANNEL_READERS = N_("Everyone who can read this channel can find this, also in digests and catch-ups.")
ReaderKind = Literal["own", "terminal", "workspace", "guests", "adult", "shared", "people"]
REACH: dict[ReaderKind, str] = {  # who can find something, whether it is shared yet or not
    "own": ONLY_YOU,
    "workspace": N_("Every full member of this workspace can find this."),
    "guests": N_("Every full member of this workspace and the guests in {channels} can find this."),
    "adult": N_("Every full member who can see age-restricted channels can find this."),
    "shared": N_("Only the people in {channels} can find this, including those from other organizations."),
    "people": N_("Only people who can read {channels} can find this."),
}
SourceAudience = Literal["terminal", "workspace", "open", "adult", "shared", "members", "unknown"]
# Of a source that is read for a workspace or a channel; unknown: the channel cannot be looked up now.
SOURCE_READERS: dict[SourceAudience, str] = {
    "workspace": N_("Every full member of the workspace {name}"),
    "open": N_("Every full member of the workspace and everyone in #{name}"),
    "adult": N_("Every full member who can see age-restricted channels and everyone in #{name}"),
    "shared": N_("Everyone in #{name}, including people from other organizations,"),
    "members": N_("Everyone in #{name}"),
    "unknown": N_("Everyone in #{name} and, if that is an open channel, every full member of the workspace"),
}


def describe_readers(channel: Channel | None) -> str:
    """Who can find what is shared in a channel, for somebody who can read it; None: shared with the bot alone."""
    if channel is None or channel.kind == "direct":
        return gettext(ONLY_YOU)
    name = escape_markdown(channel.name.removeprefix("#"))
    if channel.shared:
        return gettext(SHARED_READERS).format(channel=name)
    if channel.kind == "open":
        return gettext(ADULT_MEMBERS if channel.adult else ALL_MEMBERS)
    if not channel.members:
        return gettext(CHANNEL_READERS)
    members = pluralize(len(channel.members), "{count} member", "{count} members")
    return gettext(ONLY_MEMBERS).format(members=members, channel=name)


def describe_reach(kind: ReaderKind, names: Sequence[str]) -> str:
    """Who can find something, in one sentence; `names`: of channels of which the reader may know, or of a space."""
    if kind == "terminal":
        return f"Whoever uses the space {names[0]} can find this."  # seen at the terminal alone
    channels = format_list([f"#{name.removeprefix('#')}" for name in names])
    return gettext(REACH[kind]).format(channels=channels or gettext("its channel"))


def describe_people(names: Sequence[str], count: int, *, guests: bool) -> str:
    """How many people these are, for managers, with the names of the first; empty for none."""
    if not count:
        return ""
    listed = ", ".join(names)
    more = gettext("and {count} more").format(count=count - len(names)) if count > len(names) else ""
    shown = f"{listed} {more}".strip()
    people = pluralize(count, "{count} person", "{count} people")
    counted = pluralize(count, "{count} guest", "{count} guests") if guests else people
    return f"{counted}: {shown}."


def explain_reading(rule: ReadingRule, channel: str) -> str:
    """Why somebody may read what is in a channel with this name; empty if the name is not known."""
    if not channel:
        return gettext(IMPORTED_REASONS[rule])
    return gettext(REASONS[rule]).format(channel=escape_markdown(channel.removeprefix("#")))


def name_readers(audience: SourceAudience, name: str) -> str:
    """Who can find what is read for a place, as the beginning of a sentence.

    `name`: of the channel, the workspace or the space of the terminal.
    """
    if audience == "terminal":
        return f"Whoever uses the space {name}"  # seen at the terminal alone
    return gettext(SOURCE_READERS[audience]).format(name=name.removeprefix("#"))


def describe_own_readers(*, is_space: bool) -> str:
    """Who can find what a visitor of the page uploads: to a space of the terminal, or to what they alone read."""
    if is_space:
        return "Whoever uses this space of the terminal can find what you upload, and nobody in a chat."
    return "Only you can find what you upload."
