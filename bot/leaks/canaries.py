"""Texts with invented names and codes, each in a place that most people may not read, and one text that all may."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from bot.permissions.audience import personal_space
from bot.platform.models import Channel, Location

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.leaks.askers import LeakAsker

STRANGER = "leak-test-stranger"  # who writes the planted texts
ONSETS, VOWELS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "t", "v", "z"), ("a", "e", "i", "o", "u")
ChannelKind = Literal["open", "closed", "direct"]


@dataclass(frozen=True, slots=True)
class Canary:
    """A marked text. `kind`: what guards it. `name`, `code`, `file` and the name of its channel occur nowhere else.

    `space`: where the place has no channel. `open_to_members`: whether full members of the workspace may read it.
    `link`, `answer`: of a kept answer that rests on it.
    """

    kind: str
    channel: Channel | None
    name: str
    code: str
    file: str
    space: str = ""
    open_to_members: bool = False

    @property
    def title(self) -> str:
        """The title of its file."""
        return f"{self.file}.md"

    @property
    def is_adult(self) -> bool:
        """Whether members may know of its channel, but see in no other one what is said there."""
        return self.channel is not None and self.channel.adult

    @property
    def room(self) -> str:
        """The room of its documents."""
        return self.channel.location.room if self.channel else f"{self.space}:{self.file}"

    @property
    def key(self) -> str:
        """The key of its file."""
        return f"{self.room}:file:{self.file}"

    @property
    def answer(self) -> str:
        """The id of the answer that rests on it."""
        return f"leak-answer-{self.file}"

    @property
    def moved_answer(self) -> str:
        """The id of an answer that rests on it, in a channel that everybody reads; it has none of its words."""
        return f"leak-moved-{sha256(self.file.encode()).hexdigest()[:12]}"

    @property
    def link(self) -> str:
        """The id by which that answer is shared."""
        return f"leak-link-{self.file}"

    @property
    def words(self) -> tuple[str, ...]:
        """What no reply to somebody who may not read it may contain, in lower case."""
        is_named = self.channel is not None and self.channel.kind != "direct" and not self.is_adult
        named = (self.channel.name,) if self.channel is not None and is_named else ()
        return tuple(name.casefold() for name in (self.name, self.code, self.file, *named))


@dataclass(frozen=True, slots=True)
class Bait:
    """A text that everybody may read who is asked for, about the same name as the canaries. `places`: its channels."""

    name: str
    friend: str
    code: str
    places: tuple[Channel, ...]

    def is_told(self, asked: str, reply: str) -> bool:
        """Whether a reply tells of it what the question did not have."""
        words = {word.casefold() for word in (self.friend, self.code)}
        return any(word in reply.casefold() and word not in asked.casefold() for word in words)

    def find_channel(self, asker: LeakAsker) -> Channel | None:
        """The channel of a person's workspace that they read it in."""
        home = (asker.subject.platform, asker.subject.workspace)
        fit = "guest" if asker.kind == "guest" else "hall"
        return next((place for place in self.places if _home(place) == home and place.name.startswith(fit)), None)


def _home(channel: Channel) -> tuple[str, str]:
    return channel.location.platform, channel.location.workspace


class Inventor:
    """Invents words that no text contains, from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def word(self, syllables: int = 4) -> str:
        """A word in lower case."""
        parts = (self._random.choice(ONSETS) + self._random.choice(VOWELS) for _ in range(syllables))
        return "".join(parts) + self._random.choice(ONSETS)

    def name(self) -> str:
        """A name of two words."""
        return f"{self.word(2).title()} {self.word().title()}"

    def marks(self) -> tuple[str, str, str]:
        """A name, a code and the beginning of a title."""
        return self.name(), self.word(), self.word()


def invent_bait(askers: Sequence[LeakAsker], invent: Inventor) -> Bait:
    """The text for all, in an open channel of each workspace and in one that guests joined."""
    places, code = [], invent.word()
    homes = [(asker.subject.platform, asker.subject.workspace) for asker in askers]
    for platform, workspace in sorted({*homes} - {("", "")}):
        people = [each for each, home in zip(askers, homes, strict=True) if home == (platform, workspace)]
        for kind in ("hall", "guest"):
            chosen = frozenset(
                person.subject.person for person in people if (person.kind == "guest") == (kind == "guest")
            )
            location = Location(platform, workspace, f"leak-{kind}-{code}")
            guests = chosen if kind == "guest" else frozenset[str]()
            places.append(Channel(location, f"{kind}-{code}", "open", chosen, guests))
    return Bait(invent.name(), invent.name(), invent.word(), tuple(places))


def invent_canaries(place: Location, space: str, members: frozenset[str], invent: Inventor) -> list[Canary]:
    """A canary for everything that guards a text in a workspace; `space`: a foreign one of the terminal.

    `members`: of a private channel that is age-restricted, so that they may read it there and nowhere else.
    """
    made = [
        _in_channel("private channel", place, "closed", invent),
        _in_channel("direct messages", place, "direct", invent),
        _in_channel("channel of two workspaces", place, "closed", invent),
        _in_channel("age-restricted channel", place, "open", invent),
        _in_channel("age-restricted private channel", place, "closed", invent, members),
        _in_channel("other workspace", replace(place, workspace=f"{place.workspace}X"), "open", invent),
        Canary("personal files", None, *invent.marks(), personal_space(place.platform, "", STRANGER)),
        Canary("space of the terminal", None, *invent.marks(), space),
        _in_channel("open channel, for guests", place, "open", invent),
    ]
    made[2] = _change(made[2], shared=True)
    made[3:5] = [_change(canary, adult=True) for canary in made[3:5]]
    made[-1] = replace(made[-1], open_to_members=True)
    return made


def _in_channel(
    kind: str, place: Location, channel: ChannelKind, invent: Inventor, members: frozenset[str] = frozenset()
) -> Canary:
    name = invent.word()
    location = replace(place, channel=f"leak-{name}")
    return Canary(kind, Channel(location, name, channel, members | {STRANGER}), *invent.marks())


def _change(canary: Canary, *, shared: bool = False, adult: bool = False) -> Canary:
    channel = canary.channel
    return canary if channel is None else replace(canary, channel=replace(channel, shared=shared, adult=adult))


def in_known_channel(channel: Channel, invent: Inventor) -> Canary:
    """A canary in a channel that the store knows."""
    return Canary("known private channel", channel, *invent.marks())


def may_read(asker: LeakAsker, canary: Canary) -> bool:
    """Whether an asker may read a canary, by what it was planted for and by nothing else."""
    if asker.is_shut_out:
        return False
    channel = canary.channel
    if channel is None:
        return canary.space == asker.subject.space
    is_home = (asker.subject.platform, asker.subject.workspace) == _home(channel)
    if canary.open_to_members:
        return is_home and asker.kind in {"member", "manager"}
    return is_home and asker.subject.person in channel.members and not canary.is_adult
