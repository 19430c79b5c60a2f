"""Rewriting a text that arrives in pieces, so that the result never depends on how it was cut.

A step is taken only when no continuation could change it; until then the tail is held back, at most `HELD` characters.
"""

from __future__ import annotations

import re
from typing import NamedTuple

HELD = 4096
SPAN = 200  # a longer run between single backticks, or one with a line break in it, is no code
RUN = 64  # of backticks, and of characters remembered behind us

TICKS = re.compile(rf"`{{1,{RUN}}}|~{{1,{RUN}}}")
LEAD = frozenset(" \t>-*+.)0123456789")  # what may stand before a block begins: quotes, bullets, numbers


class Step(NamedTuple):
    """The input up to `end` becomes `text`."""

    end: int
    text: str


class Scanner:
    """Passes ordinary text and code; what begins with a character of `special` is decided by `token`.

    Code is what stands between backticks, or from three of them (or three tildes that begin a line) to the next three.
    """

    special: re.Pattern[str]

    def __init__(self) -> None:
        self.buffer = ""
        self.tail = ""  # the last characters written
        self.fence = ""  # what opened the block of code that we are in
        self.lead = True  # nothing but indentation so far on this line

    def feed(self, delta: str) -> str:
        """What can be said for sure once `delta` has come, too."""
        self.buffer += delta
        return self.drain(final=False)

    def close(self) -> str:
        """The rest: nothing more will come."""
        return self.drain(final=True)

    def drain(self, *, final: bool) -> str:
        """Take all steps that can be taken."""
        written = []
        at = 0
        while at < len(self.buffer):
            step = self.step(at, final=final)
            if step is None:
                break
            self.note(self.buffer[at : step.end], step.text)
            written.append(step.text)
            at = step.end
        self.buffer = self.buffer[at:]
        return "".join(written)

    def step(self, at: int, *, final: bool) -> Step | None:
        """The next step, or None: it depends on what comes."""
        if self.buffer[at] in "`~":
            return self.ticks(at, final=final)
        if self.special.match(self.buffer, at):
            return self.token(at, final=final)
        return self.plain(at)

    def token(self, at: int, *, final: bool) -> Step | None:
        """What a special character begins; by default nothing."""
        del final
        return self.plain(at)

    def inside(self, code: str) -> str:
        """What becomes of a span of code."""
        return code

    def plain(self, at: int) -> Step:
        """One character and the ordinary ones behind it, as they are."""
        found = self.special.search(self.buffer, at + 1)
        end = found.start() if found else len(self.buffer)
        return Step(end, self.buffer[at:end])

    def note(self, read: str, wrote: str) -> None:
        """Remember where we are."""
        self.tail = (self.tail + wrote)[-RUN:]
        line = read.rpartition("\n")
        self.lead = (self.lead or bool(line[1])) and LEAD.issuperset(line[2])

    def ticks(self, at: int, *, final: bool) -> Step | None:
        """Backticks or tildes: the edge of a block of code, a span of code, or just themselves."""
        run = TICKS.match(self.buffer, at)
        assert run is not None  # noqa: S101  - the caller saw one
        if run.end() == len(self.buffer) and len(run[0]) < RUN and not final:
            return None
        if self.fence:
            if run[0].startswith(self.fence):
                self.fence = ""
            return Step(run.end(), run[0])
        if len(run[0]) >= 3 and (run[0][0] == "`" or self.lead):
            self.fence = run[0]
            return Step(run.end(), run[0])
        return Step(run.end(), run[0]) if run[0][0] == "~" else self.span(run, final=final)

    def span(self, ticks: re.Match[str], *, final: bool) -> Step | None:
        """Inline code, if as many backticks close it on the same line, soon enough."""
        window, ends, _ = self.buffer[ticks.end() : ticks.end() + SPAN].partition("\n")
        sure = bool(ends) or len(window) == SPAN or final
        closing = re.search(rf"(?<!`){ticks[0]}(?!`)", window)
        if closing and (closing.end() < len(window) or sure):
            code = self.inside(window[: closing.start()])
            return Step(ticks.end() + closing.end(), ticks[0] + code + ticks[0])
        return Step(ticks.end(), ticks[0]) if sure else None
