"""Rewriting a text that arrives in pieces, so that the result never depends on how it was cut.

A step is taken only when no continuation could change it; until then the tail is held back, at most `HELD` characters.

Code is only what every platform shows as code: a span that closes on its line, and a fence that closes on a line of
its own. Renderers disagree about everything else (a backtick that never closes, a fence in mid-line), so that from the
first such place on nothing counts as code any more.
"""

from __future__ import annotations

import re
from typing import NamedTuple

HELD = 8192
SPAN = 200  # characters of a span of code; a longer one is treated as text
RUN = 64  # characters remembered behind us; a run of as many backticks is no code

PLAIN_CODE = re.compile(r"[^`\n]*")
TICKS = re.compile(rf"`{{1,{RUN}}}")
FENCE = "```"
TILDES = "~~~"  # a fence for some renderers and text for others
CONTROLS = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160), 0x2028, 0x2029), " ")


class Step(NamedTuple):
    """The input up to `end` becomes `text`."""

    end: int
    text: str


class Scanner:
    """Passes ordinary text and code; what begins with a character of `special` is decided by `token`.

    `certain` says whether all renderers still agree about what is code. Control characters become spaces, because
    some renderers end lines and addresses at them and others do not.
    """

    special: re.Pattern[str]

    def __init__(self, *, certain: bool = True) -> None:
        self.buffer = ""
        self.tail = ""  # the last characters written
        self.line = ""  # the beginning of the current line
        self.certain = certain
        self.looked = 0  # characters of a pending token that need not be looked at again

    def feed(self, delta: str) -> str:
        """What can be said for sure once `delta` has come, too."""
        self.buffer += delta.translate(CONTROLS)
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
            self.looked = 0
            self.note(self.buffer[at : step.end], step.text)
            written.append(step.text)
            at = step.end
        self.buffer = self.buffer[at:]
        return "".join(written)

    def step(self, at: int, *, final: bool) -> Step | None:
        """The next step, or None: it depends on what comes."""
        if self.buffer[at] == "`":
            return self.ticks(at, final=final)
        if self.special.match(self.buffer, at):
            return self.token(at, final=final)
        return self.plain(at)

    def token(self, at: int, *, final: bool) -> Step | None:
        """What a special character begins; by default nothing."""
        del final
        return self.plain(at)

    def inside(self, code: str, *, certain: bool) -> str:
        """What becomes of the content of code; not `certain`: some renderers show it as text."""
        del certain
        return code

    def plain(self, at: int) -> Step:
        """One character and the ordinary ones behind it, as they are."""
        found = self.special.search(self.buffer, at + 1)
        end = found.start() if found else len(self.buffer)
        return Step(end, self.buffer[at:end])

    def note(self, read: str, wrote: str) -> None:
        """Remember where we are."""
        if TILDES in self.line[-2:] + read:
            self.certain = False
        self.tail = (self.tail + wrote[-RUN:])[-RUN:]
        _, newline, line = read.rpartition("\n")
        self.line = (line if newline else self.line + line)[-RUN:]

    # Code.

    def ticks(self, at: int, *, final: bool) -> Step | None:
        """Backticks: code if it is certain where it ends, else just themselves."""
        run = TICKS.match(self.buffer, at)
        assert run is not None  # noqa: S101  - the caller saw one
        if run.end() == len(self.buffer) and len(run[0]) < RUN and not final:
            return None
        if not self.certain or len(run[0]) == RUN or self.tail.endswith(("\\", "`")):
            return self.doubtful(run)
        content = PLAIN_CODE.match(self.buffer, run.end(), run.end() + SPAN)
        end = content.end() if content else run.end()
        if end == len(self.buffer):
            return self.doubtful(run) if final or end - run.end() == SPAN else None
        match self.buffer[end]:
            case "`":
                return self.span(run, end, final=final)
            case "\n" if len(run[0]) >= len(FENCE) and not self.line.strip(" ") and len(self.line) < RUN:
                return self.fence(run, end, final=final)
            case _:
                return self.doubtful(run)

    def doubtful(self, run: re.Match[str]) -> Step:
        """These backticks open or close something, depending on the renderer."""
        self.certain = False
        return Step(run.end(), run[0])

    def span(self, run: re.Match[str], end: int, *, final: bool) -> Step | None:
        """Code within a line, if the backticks at `end` close it. A table is cut at bars, even within code."""
        closing = TICKS.match(self.buffer, end)
        assert closing is not None  # noqa: S101  - the caller saw one
        if closing.end() == len(self.buffer) and not final:
            return None
        if len(closing[0]) != len(run[0]):
            return self.doubtful(run)
        code = self.buffer[run.end() : end]
        return Step(closing.end(), run[0] + self.inside(code, certain="|" not in code) + closing[0])

    def fence(self, run: re.Match[str], newline: int, *, final: bool) -> Step | None:
        """A block of code: the next three backticks close it, on a line of their own, and nothing is indented less."""
        edge = self.buffer.find(FENCE, max(newline, run.start() + self.looked))
        if edge < 0:
            if final or len(self.buffer) - run.start() >= HELD - SPAN:
                return self.doubtful(run)
            self.looked = max(0, len(self.buffer) - run.start() - len(FENCE))
            return None
        self.looked = edge - run.start()
        closing = re.compile(rf"`{{{len(run[0])},{RUN}}}[ \t]*(?=(\n)|\Z)").match(self.buffer, edge)
        ends = self.buffer.find("\n", edge)
        if ends < 0 and not final and len(self.buffer) - edge < SPAN:
            return None
        code = self.buffer[run.end() : edge]
        _, *lines, last = code.split("\n")
        indented = last == self.line and all(line.startswith(self.line) for line in lines if line.strip())
        if closing is None or not indented or not "".join(lines).strip():
            return self.doubtful(run)
        return Step(closing.end(), run[0] + self.inside(code, certain=True) + closing[0])
