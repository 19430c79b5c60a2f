"""Disentangle conversations that run at once in a channel, and cut them into windows. Pure.

A linear model scores each recent message as the one answered, and the start of a new conversation. Its features follow
Kummerfeld et al., "A Large-Scale Corpus for Conversation Disentanglement" (ACL 2019).
"""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from engine.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime, timedelta


RECENT_MESSAGES = 40  # earlier messages that a message can answer
_MIN_NAME_LETTERS = 3
_TOKEN = re.compile(r"[^\s,:;!?()<>\"]+")
_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True)
class Utterance:
    """A message for disentanglement, as plain text. `replies_to`: the id of the message that it quotes."""

    id: str
    author: str
    text: str
    time: datetime
    replies_to: str = ""

    @cached_property
    def tokens(self) -> frozenset[str]:
        """The case-folded pieces of the text that can be names."""
        return frozenset(token.strip("@.") for token in _TOKEN.findall(self.text.casefold()))

    @cached_property
    def words(self) -> frozenset[str]:
        """The case-folded content words of the text."""
        return frozenset(_WORD.findall(self.text.casefold())) - STOP_WORDS

    @cached_property
    def name(self) -> str:
        """The first word of the author's name; empty if it is too short to be recognized in a text."""
        first = next(iter(_TOKEN.findall(self.author.casefold())), "")
        return first if len(first) >= _MIN_NAME_LETTERS else ""


class LinkFeatures(NamedTuple):
    """The features of a link from a message to an earlier one, its target; also their weights."""

    minutes: float  # logarithm of one more than the minutes between both
    distance: float  # logarithm of the number of messages from the target to this one
    same_author: float
    is_latest_of_author: float  # the target is the author's latest message
    mentions_target: float  # the message has the name of the target's author
    mentioned_by_target: float
    mentions_another: float  # the message has names, but not that of the target's author
    target_mentions_another: float
    shared_words: float  # sum of the inverse document frequencies of the words that both have


class StartFeatures(NamedTuple):
    """The features of a message as the start of a conversation; also their weights."""

    constant: float
    has_question: float
    mentions_nobody: float
    author_wrote_recently: float
    recent_authors: float  # logarithm of their number


# Chosen on the annotated logs of one folder; `docs/benchmarks.md` has the scores on others.
LINK_WEIGHTS = LinkFeatures(
    minutes=-1.0,
    distance=-1.0,
    same_author=0.5,
    is_latest_of_author=1.5,
    mentions_target=4.0,
    mentioned_by_target=2.5,
    mentions_another=-1.5,
    target_mentions_another=-1.5,
    shared_words=1.5,
)
START_WEIGHTS = StartFeatures(
    constant=-5.0, has_question=1.0, mentions_nobody=1.0, author_wrote_recently=-2.5, recent_authors=2.0
)


class Disentangler:
    """Finds the message that each message of a channel answers. Messages are passed in the order of their times."""

    def __init__(self, gap: timedelta) -> None:
        """`gap`: a message answers none that is as much older."""
        self._gap = gap
        self._recent: deque[Utterance] = deque(maxlen=RECENT_MESSAGES)

    def link(self, utterance: Utterance) -> Utterance | None:
        """Find the message that this one answers; None if it starts a conversation."""
        self._forget_before(utterance)
        target = find_target(utterance, self._recent)
        self._recent.append(utterance)
        return target

    def add(self, utterance: Utterance) -> None:
        """Add a message whose conversation is known, so that later ones can answer it."""
        self._forget_before(utterance)
        self._recent.append(utterance)

    def _forget_before(self, utterance: Utterance) -> None:
        while self._recent and utterance.time - self._recent[0].time >= self._gap:
            self._recent.popleft()


def find_target(utterance: Utterance, recent: Collection[Utterance]) -> Utterance | None:
    """The message among recent ones, oldest first, that this one answers; None if it starts a conversation."""
    if quoted := next((utterance_ for utterance_ in recent if utterance_.id == utterance.replies_to), None):
        return quoted
    scores = [(_dot(features, LINK_WEIGHTS), target) for features, target in link_features(utterance, recent)]
    score, target = max(scores, key=lambda each: each[0], default=(-math.inf, None))
    return target if score > _dot(start_features(utterance, recent), START_WEIGHTS) else None


def link_features(utterance: Utterance, recent: Collection[Utterance]) -> list[tuple[LinkFeatures, Utterance]]:
    """The features of the links to recent messages, oldest first."""
    names = {utterance_.name for utterance_ in recent} - {""}
    frequencies = Counter(word for utterance_ in recent for word in utterance_.words)
    own = {utterance.name}
    named = (utterance.tokens & names) - own
    latest = max((at for at, each in enumerate(recent) if each.author == utterance.author), default=-1)
    found = []
    for at, target in enumerate(recent):
        same = target.author == utterance.author
        named_by_target = (target.tokens & (names | own)) - {target.name}
        shared = sum(math.log((len(recent) + 1) / frequencies[word]) for word in utterance.words & target.words)
        features = LinkFeatures(
            minutes=math.log1p((utterance.time - target.time).total_seconds() / 60),
            distance=math.log(len(recent) - at),
            same_author=same,
            is_latest_of_author=at == latest,
            mentions_target=target.name in named,
            mentioned_by_target=utterance.name in named_by_target,
            mentions_another=bool(named) and target.name not in named and not same,
            target_mentions_another=bool(named_by_target) and utterance.name not in named_by_target and not same,
            shared_words=min(shared, 15.0) / 5,
        )
        found.append((features, target))
    return found


def start_features(utterance: Utterance, recent: Collection[Utterance]) -> StartFeatures:
    """The features of a message as the start of a conversation."""
    return StartFeatures(
        constant=1.0,
        has_question="?" in utterance.text,
        mentions_nobody=not utterance.tokens & ({utterance_.name for utterance_ in recent} - {"", utterance.name}),
        author_wrote_recently=any(utterance_.author == utterance.author for utterance_ in recent),
        recent_authors=math.log(max(1, len({utterance_.author for utterance_ in recent}))),
    )


def _dot(features: tuple[float, ...], weights: tuple[float, ...]) -> float:
    return sum(feature * weight for feature, weight in zip(features, weights, strict=True))


@dataclass(slots=True)
class _Conversation:
    """A conversation: the key of its latest window, and the tokens of that window."""

    window: str
    tokens: int


class ConversationWindows:
    """Assigns each message to a window: messages of one conversation within a budget of tokens.

    Messages are passed in the order of their times. A new window has the id of its first message as its key.
    """

    def __init__(self, gap: timedelta, budget: int) -> None:
        """`gap`: a conversation without a message for that long has ended."""
        self._budget = budget
        self._disentangler = Disentangler(gap)
        self._by_message: dict[str, _Conversation] = {}
        self._by_window: dict[str, _Conversation] = {}

    def assign(self, utterance: Utterance, tokens: int) -> str:
        """The key of the window of a message with so many tokens."""
        conversation = self._find_conversation(utterance)
        if conversation is None or conversation.tokens + tokens > self._budget:
            conversation = self._open_window(conversation, utterance.id, 0)
        conversation.tokens += tokens
        self._by_message[utterance.id] = conversation
        return conversation.window

    def restore(self, utterance: Utterance, window: str, tokens: int) -> None:
        """Add a message that was assigned before to a window, which has so many tokens in total."""
        conversation = self._by_window.get(window)
        if conversation is None:
            conversation = self._open_window(self._find_conversation(utterance), window, tokens)
        else:
            self._disentangler.add(utterance)
        self._by_message[utterance.id] = conversation

    def _find_conversation(self, utterance: Utterance) -> _Conversation | None:
        target = self._disentangler.link(utterance)
        return self._by_message[target.id] if target else None

    def _open_window(self, continued: _Conversation | None, window: str, tokens: int) -> _Conversation:
        conversation = continued or _Conversation(window, tokens)
        conversation.window, conversation.tokens = window, tokens
        self._by_window[window] = conversation
        return conversation
