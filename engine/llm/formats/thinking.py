"""Remove the thoughts of reasoning models from a reply, whole or streamed: one table of notations for both.

A chat template may write the opening mark itself, so that a reply begins with thoughts and has the closing mark only.
Nothing of such a reply may be shown before that mark. A filter that holds the head back therefore shows nothing until
it has seen a mark or the end of the reply; `ThinkingModels` decides for which models that is necessary.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from string import whitespace

from engine.llm.formats.thinking_notations import (
    AMBIGUOUS_CLOSINGS,
    ANSWER_CLOSINGS,
    ANSWER_OPENINGS,
    EMPTY_TAGS,
    NOTATIONS,
    Beginnings,
    Marks,
    Notation,
)

MAX_HEAD_CHARACTERS = 100_000  # a longer head without a mark is thoughts: no answer is as long
MAX_MARKS = 1_000  # a reply with more is no answer; its rest is hidden
_SLICE_CHARACTERS = 2_000  # of a delta: each mark in it costs a copy of the rest
MAX_BLOCK_CHARACTERS = 20_000  # the same, of a block within the text whose end is not in sight

_BLANKS = f"{whitespace}\ufeff\u200b"  # before a mark at the start of a reply
_QUOTES = "`\"'“”‘’«»„"


_OPENINGS = {opening: notation for notation in NOTATIONS for opening in (*notation.opening, *notation.heads)}
_INNER_OPENINGS = tuple(opening for notation in NOTATIONS for opening in notation.opening)
_LONE_CLOSINGS = tuple(
    closing
    for notation in NOTATIONS
    if notation.opening
    for closing in notation.closing
    if closing not in AMBIGUOUS_CLOSINGS
)
_HEAD = Marks(_OPENINGS)
_CHANNEL = "analysis"  # also a word with which an answer may begin
_CHANNEL_HEAD = re.compile(r"analysis(?=[A-Z])")
_HEAD_START = Beginnings((*_OPENINGS, *ANSWER_OPENINGS, *EMPTY_TAGS))
_EMPTY_TAG = Marks(EMPTY_TAGS)
_ANSWER_OPENING = Marks(ANSWER_OPENINGS)
_OPENING = Marks(_INNER_OPENINGS)
_LONE_CLOSING = Marks(_LONE_CLOSINGS)
_MARK = Marks((*_INNER_OPENINGS, *_LONE_CLOSINGS))
_MARK_START = Beginnings((*_INNER_OPENINGS, *_LONE_CLOSINGS))
_LAST_MARK = Marks((*_INNER_OPENINGS, *_LONE_CLOSINGS, *ANSWER_CLOSINGS))
_LAST_MARK_START = Beginnings((*_INNER_OPENINGS, *_LONE_CLOSINGS, *ANSWER_CLOSINGS))
_MAX_MARK = max(map(len, (*_OPENINGS, *_LONE_CLOSINGS, *ANSWER_OPENINGS, *ANSWER_CLOSINGS)))
_NEVER = Marks(())
_CLOSING_OF = {  # a template may end with its own mark what a model began with a heading
    notation: Marks((*notation.closing, *(_LONE_CLOSINGS if notation.needs_end else ()))) for notation in NOTATIONS
}
_EDGE_OF = {notation: Marks((*notation.opening, *notation.closing)) for notation in NOTATIONS}


def strip_thinking(reply: str) -> str:
    """The visible text of a whole reply; a closing mark without an opening one ends thoughts that began with it."""
    stream = ThinkingFilter(whole=True)
    stream.feed(reply)
    stream.finish()
    return stream.text


def has_unopened_thinking(reply: str) -> bool:
    """Whether a whole reply begins with thoughts that only a closing mark shows."""
    if _LONE_CLOSING.search(reply) is None:
        return False
    stream = ThinkingFilter()
    for at in range(0, len(reply), _SLICE_CHARACTERS):
        stream.feed(reply[at : at + _SLICE_CHARACTERS])
        if stream.is_begun:
            break
    return stream.is_unopened


def opens_thinking(reply: str) -> bool:
    """Whether a whole reply begins with an opening mark of thoughts."""
    stream = ThinkingFilter(hold_head=False)
    stream.feed(reply.lstrip()[: 2 * _MAX_MARK])
    return stream.has_thought


class _Stage(Enum):
    HEAD = auto()  # only blanks, or the start of a mark
    HELD = auto()  # a head without a mark: text, or thoughts
    THINKING = auto()
    AFTER = auto()  # blanks between thoughts and the answer
    TEXT = auto()
    BLOCK = auto()  # after an opening mark in the text: thoughts if they are closed


class ThinkingFilter:
    """Takes deltas and returns the visible text.

    `hold_head`: a reply without an opening mark is held back until its closing mark or its end. `whole`: `text` is the
    visible text so far, of which a later closing mark without an opening one takes back what it shows to be thoughts.
    A mark within code or behind a quotation mark is text.
    """

    def __init__(self, *, hold_head: bool = True, whole: bool = False) -> None:
        self.is_unopened = False  # the reply had a closing mark without an opening one
        self.has_thought = False
        self._hold_head = hold_head
        self._whole = whole
        self._buffer = ""
        self._scanned = 0  # characters of the buffer without a mark
        self._marks = 0
        self._state = _Stage.HEAD
        self._closing = _LONE_CLOSING
        self._notation: Notation | None = None  # of the thoughts being read
        self._nested = 0  # opening marks within these thoughts: as many closing marks may follow
        self._taken_back: list[str] = []
        self._put_aside = ""  # what is thoughts only if an answer follows
        self._before = ""  # the last visible character
        self._code = CodeTracker()
        self._shown: list[str] = []

    @property
    def text(self) -> str:
        """The visible text of a whole reply so far."""
        return "".join(self._shown)

    @property
    def is_begun(self) -> bool:
        """Whether it is certain how the reply begins: with text or with thoughts."""
        return self._state not in {_Stage.HEAD, _Stage.HELD}

    def holds_text(self, *, may_think: bool) -> bool:
        """Whether what is held back is rather text than thoughts; `may_think`: the model may begin with thoughts."""
        return self._state is _Stage.TEXT or (self._state is _Stage.HELD and not may_think)

    def feed(self, delta: str) -> str:
        """The text that can be shown now."""
        shown: list[str] = []
        for at in range(0, len(delta), _SLICE_CHARACTERS):
            self._buffer += delta[at : at + _SLICE_CHARACTERS]
            while self._advance(shown):
                pass
        return "".join(shown)

    def finish(self, *, hide_head: bool = False) -> str:
        """The rest at the end of the stream; thoughts without an end stay hidden.

        `hide_head`: so does a head without a mark, of a model that was cut off while it thought.
        """
        held, self._buffer = self._buffer, ""
        if self._state is _Stage.THINKING or (hide_head and self._state is _Stage.HELD):
            return ""
        if self._state is _Stage.AFTER:
            held = held if held.strip() else "" if self._before else self._put_aside
        self._shown.append(held)
        if not self.text.strip():
            self._shown[:0] = self._taken_back
        return held

    def _advance(self, shown: list[str]) -> bool:
        """Take one step; false if it needs more text."""
        match self._state:
            case _Stage.HEAD:
                return self._read_head(after=False)
            case _Stage.AFTER:
                return self._read_head(after=True)
            case _Stage.HELD:
                return self._read_held()
            case _Stage.THINKING:
                return self._read_thoughts()
            case _Stage.TEXT:
                return self._read_text(shown)
            case _:
                return self._read_block()

    def _enter(self, state: _Stage, rest: str) -> bool:
        self._state, self._buffer, self._scanned = state, rest, 0
        self._marks += 1
        if self._marks > MAX_MARKS:
            self._state, self._closing, self._notation = _Stage.THINKING, _NEVER, None
        return True

    def _begin_thinking(self, notation: Notation | None, rest: str) -> bool:
        self.has_thought = True
        self._closing = _CLOSING_OF[notation] if notation else _LONE_CLOSING
        self._notation, self._nested = notation, 0
        return self._enter(_Stage.THINKING, rest)

    def _begin_head(self, mark: str, rest: str) -> bool:
        """Continue behind an opening mark at the start of a reply."""
        notation = _OPENINGS[mark.lower()]
        if not notation.needs_end:
            return self._begin_thinking(notation, rest)
        self._closing, self._notation = _CLOSING_OF[notation], notation
        self._enter(_Stage.BLOCK, mark + rest)
        self._scanned = len(mark.rstrip())
        return True

    def _read_head(self, *, after: bool) -> bool:
        head = self._buffer[self._scanned :].lstrip(_BLANKS)
        if not head:
            self._scanned = len(self._buffer)
        if not head or (len(head) < _MAX_MARK and head in _HEAD_START):
            return False
        found = _HEAD.match(head) if _EMPTY_TAG.match(head) is None else None
        if found and found[0].lower() == _CHANNEL:
            if len(head) == len(_CHANNEL):
                return False
            found = _CHANNEL_HEAD.match(head)
        if found:
            return self._begin_head(found[0], head[found.end() :])
        wrapper = _EMPTY_TAG.match(head) or _ANSWER_OPENING.match(head)
        if wrapper and (after or wrapper[0].startswith("<|") or wrapper[0].endswith("/>")):
            self.has_thought = True  # so that what ends the answer is no text
            return self._enter(_Stage.AFTER, head[wrapper.end() :])
        if after:
            is_within = bool(self._before) and not self._before.isspace()
            return self._enter(_Stage.TEXT, self._buffer if is_within else head)
        return self._enter(_Stage.HELD if self._hold_head else _Stage.TEXT, self._buffer)

    def _read_held(self) -> bool:
        found = _find_mark(_MARK, self._buffer, self._scanned, "")
        if found is None:
            self._scanned = max(0, len(self._buffer) - _MAX_MARK)
            return len(self._buffer) > MAX_HEAD_CHARACTERS and self._begin_thinking(None, self._buffer[-_MAX_MARK:])
        if _LONE_CLOSING.is_mark(found[0]):
            self.is_unopened = self.is_unopened or not self.has_thought
            self.has_thought = True
            return self._leave_thoughts(self._buffer[found.end() :])
        return self._enter(_Stage.TEXT, self._buffer)

    def _read_thoughts(self) -> bool:
        nests = self._notation is not None and self._notation.nests
        edge = _EDGE_OF[self._notation] if self._notation and nests else self._closing
        found = _find_mark(edge, self._buffer, 0, "") or self._closing.search(
            self._buffer
        )  # a quoted mark may end them
        if found is None:
            self._buffer = self._buffer[-_MAX_MARK:]
            return False
        if not self._closing.is_mark(found[0]):
            self._nested += 1
            return self._enter(_Stage.THINKING, self._buffer[found.end() :])
        return self._leave_thoughts(self._buffer[found.end() :])

    def _leave_thoughts(self, rest: str) -> bool:
        """Continue behind a closing mark. What follows nested thoughts may be thoughts, up to the next such mark."""
        if not self._nested:
            return self._enter(_Stage.AFTER, rest)
        self._nested -= 1
        return self._enter(_Stage.HELD, rest)

    def _read_text(self, shown: list[str]) -> bool:
        marks, starts = (
            (_LAST_MARK, _LAST_MARK_START) if self.has_thought else (_MARK, _MARK_START)
        )  # what encloses an answer is text unless there were thoughts
        found = _find_mark(marks, self._buffer, 0, self._before)
        if found is None:
            tail = self._buffer[-_MAX_MARK:]
            end = len(self._buffer) - len(tail) + starts.find(tail)
            self._show(self._buffer[:end], shown)
            self._buffer = self._buffer[end:]
            return False
        at_line_start = self._show(self._buffer[: found.start()], shown)
        rest = self._buffer[found.end() :]
        if _OPENING.is_mark(found[0]):
            return self._read_inner_opening(found[0], rest, shown, is_certain=at_line_start or self.has_thought)
        if _LONE_CLOSING.is_mark(found[0]):
            self._read_stray_closing(found[0], shown)
        return self._enter(_Stage.TEXT, rest)

    def _read_inner_opening(self, mark: str, rest: str, shown: list[str], *, is_certain: bool) -> bool:
        if self._code.is_code:
            self._show(mark, shown)
            return self._enter(_Stage.TEXT, rest)
        notation = _OPENINGS[mark.lower()]
        self._closing = _CLOSING_OF[notation]
        self._notation = notation if notation.nests else None
        return self._begin_thinking(notation, rest) if is_certain else self._enter(_Stage.BLOCK, mark + rest)

    def _read_stray_closing(self, mark: str, shown: list[str]) -> None:
        """A closing mark after visible text: that was thoughts, which only a whole reply can take back."""
        if self._code.is_code:
            self._show(mark, shown)
            return
        self.is_unopened = self.is_unopened or not self.has_thought
        self._taken_back = [*self._shown] if self.text.strip() else self._taken_back
        self._shown.clear()

    def _read_block(self) -> bool:
        found = self._closing.search(self._buffer, self._scanned)
        needs_end = self._notation is not None and self._notation.needs_end
        if found is None:
            self._scanned = max(self._scanned, len(self._buffer) - _MAX_MARK)
            if len(self._buffer) <= MAX_BLOCK_CHARACTERS:
                return False
            if needs_end:
                return self._enter(_Stage.TEXT, self._buffer)
            self.has_thought = True
            return self._enter(_Stage.THINKING, self._buffer[-_MAX_MARK:])
        opened = (
            sum(1 for _ in _EDGE_OF[self._notation].finditer(self._buffer, 1, found.start())) if self._notation else 0
        )
        self._nested, self.has_thought = opened, self.has_thought or opened > 0 or needs_end
        if needs_end:
            self._put_aside = self._buffer[: found.end()]
        if opened or needs_end:
            return self._leave_thoughts(self._buffer[found.end() :])
        return self._enter(_Stage.TEXT, self._buffer[found.end() :])

    def _show(self, text: str, shown: list[str]) -> bool:
        """Show text; returns whether a line begins after it."""
        if text:
            shown.append(text)
            if self._whole:
                self._shown.append(text)
            self._before = text[-1]
            self._code.record(text)
        return self._code.at_line_start


class CodeTracker:
    """Whether the end of a text is within a span of code or a fence."""

    def __init__(self) -> None:
        self._head = ""  # the first characters of the line
        self._backticks = 0  # in the line
        self._is_fenced = False

    def record(self, text: str) -> None:
        """Read on."""
        first, *lines = text.split("\n")
        self._read(first)
        for line in lines:
            self._is_fenced ^= self._head.lstrip().startswith(("```", "~~~"))
            self._head, self._backticks = "", 0
            self._read(line)

    def _read(self, part: str) -> None:
        if len(self._head) < 8:
            self._head = (self._head + part[:8])[:8]
        self._backticks += part.count("`")

    @property
    def is_code(self) -> bool:
        if self._is_fenced:
            return self._head.strip() not in {"```", "~~~"}
        return self._backticks % 2 == 1

    @property
    def at_line_start(self) -> bool:
        return not self._head.strip()


def _find_mark(marks: Marks, text: str, start: int, before: str) -> re.Match[str] | None:
    """The first mark from a position on that no quotation mark precedes; `before` is the character before the text."""
    for found in marks.finditer(text, start):
        previous = text[found.start() - 1] if found.start() else before
        if not previous or previous not in _QUOTES:
            return found
    return None
