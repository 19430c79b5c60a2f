"""Rewriting a text that arrives in pieces, so that the result never depends on how it was cut.

A step is taken only when no continuation could change it; until then the tail is held back, at most `HELD` characters.

Code is only what every platform shows as code: a span that closes on its line, and a fence that closes on a line of
its own. Renderers disagree about everything else (a backtick that never closes, a fence in mid-line), so that from the
first such place on nothing counts as code any more.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_HELD_CHARACTERS = 8192
MAX_SPAN_CHARACTERS = 200  # characters of a span of code; a longer one is treated as text
MAX_BACKTICKS = 64  # characters remembered behind us; a run of as many backticks is no code

PLAIN_CODE = re.compile(r"[^`\n]*")
BACKTICKS = re.compile(rf"`{{1,{MAX_BACKTICKS}}}")
FENCE = "```"
TILDES = "~~~"  # a fence for some renderers and text for others
CONTROLS = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160), 0x2028, 0x2029), " ")


class RewriteStep(NamedTuple):
    """The input up to `end` becomes `text`."""

    end: int
    text: str


class StreamRewriter:
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
        self.is_line_split = False  # a bar within code: in the row of a table, other backticks pair
        self.scanned = 0  # characters of a pending token that need not be looked at again

    def feed(self, delta: str) -> str:
        """What can be said for sure once `delta` has come, too."""
        self.buffer += delta.translate(CONTROLS)
        return self.run_steps(final=False)

    def close(self) -> str:
        """The rest: nothing more will come."""
        return self.run_steps(final=True)

    def run_steps(self, *, final: bool) -> str:
        """Take all steps that can be taken."""
        written = []
        at = 0
        while at < len(self.buffer):
            step = self.next_step(at, final=final)
            if step is None:
                break
            self.scanned = 0
            self.record_step(self.buffer[at : step.end], step.text)
            written.append(step.text)
            at = step.end
        self.buffer = self.buffer[at:]
        return "".join(written)

    def next_step(self, at: int, *, final: bool) -> RewriteStep | None:
        """The next step, or None: it depends on what comes."""
        if self.buffer[at] == "`":
            return self.rewrite_backticks(at, final=final)
        if self.special.match(self.buffer, at):
            return self.rewrite_special(at, final=final)
        return self.plain_step(at)

    def rewrite_special(self, at: int, *, final: bool) -> RewriteStep | None:
        """What a special character begins; by default nothing."""
        del final
        return self.plain_step(at)

    def rewrite_code(self, code: str, *, certain: bool) -> str:
        """What becomes of the content of code; not `certain`: some renderers show it as text."""
        del certain
        return code

    def plain_step(self, at: int) -> RewriteStep:
        """One character and the ordinary ones behind it, as they are."""
        found = self.special.search(self.buffer, at + 1)
        end = found.start() if found else len(self.buffer)
        return RewriteStep(end, self.buffer[at:end])

    def record_step(self, read: str, wrote: str) -> None:
        """Remember where we are."""
        if TILDES in self.line[-2:] + read:
            self.certain = False
        self.tail = (self.tail + wrote[-MAX_BACKTICKS:])[-MAX_BACKTICKS:]
        _, newline, line = read.rpartition("\n")
        if newline:
            self.is_line_split = False
        self.line = (line if newline else self.line + line)[-MAX_BACKTICKS:]

    # Code.

    def rewrite_backticks(self, at: int, *, final: bool) -> RewriteStep | None:
        """Backticks: code if it is certain where it ends, else just themselves."""
        run = BACKTICKS.match(self.buffer, at)
        assert run is not None  # noqa: S101  - the caller saw one
        if run.end() == len(self.buffer) and len(run[0]) < MAX_BACKTICKS and not final:
            return None
        if not self.certain or len(run[0]) == MAX_BACKTICKS or self.tail.endswith(("\\", "`")):
            return self.ambiguous_step(run)
        content = PLAIN_CODE.match(self.buffer, run.end(), run.end() + MAX_SPAN_CHARACTERS)
        end = content.end() if content else run.end()
        if end == len(self.buffer):
            return self.ambiguous_step(run) if final or end - run.end() == MAX_SPAN_CHARACTERS else None
        match self.buffer[end]:
            case "`":
                return self.rewrite_code_span(run, end, final=final)
            case "\n" if len(run[0]) >= len(FENCE) and not self.line.strip(" ") and len(self.line) < MAX_BACKTICKS:
                return self.rewrite_code_fence(run, end, final=final)
            case _:
                return self.ambiguous_step(run)

    def ambiguous_step(self, run: re.Match[str]) -> RewriteStep:
        """These backticks open or close something, depending on the renderer."""
        self.certain = False
        return RewriteStep(run.end(), run[0])

    def rewrite_code_span(self, run: re.Match[str], end: int, *, final: bool) -> RewriteStep | None:
        """Code within a line, if the backticks at `end` close it. A table is cut at bars, even within code."""
        closing = BACKTICKS.match(self.buffer, end)
        assert closing is not None  # noqa: S101  - the caller saw one
        if closing.end() == len(self.buffer) and not final:
            return None
        if len(closing[0]) != len(run[0]):
            return self.ambiguous_step(run)
        code = self.buffer[run.end() : end]
        self.is_line_split = self.is_line_split or "|" in code
        return RewriteStep(closing.end(), run[0] + self.rewrite_code(code, certain=not self.is_line_split) + closing[0])

    def rewrite_code_fence(self, run: re.Match[str], newline: int, *, final: bool) -> RewriteStep | None:
        """A block of code: the next three backticks close it, on a line of their own, and nothing is indented less."""
        edge = self.buffer.find(FENCE, max(newline, run.start() + self.scanned))
        if edge < 0:
            if final or len(self.buffer) - run.start() >= MAX_HELD_CHARACTERS - MAX_SPAN_CHARACTERS:
                return self.ambiguous_step(run)
            self.scanned = max(0, len(self.buffer) - run.start() - len(FENCE))
            return None
        self.scanned = edge - run.start()
        closing = re.compile(rf"`{{{len(run[0])},{MAX_BACKTICKS}}}[ \t]*(?=(\n)|\Z)").match(self.buffer, edge)
        ends = self.buffer.find("\n", edge)
        if ends < 0 and not final and len(self.buffer) - edge < MAX_SPAN_CHARACTERS:
            return None
        code = self.buffer[run.end() : edge]
        _, *lines, last = code.split("\n")
        indented = last == self.line and all(line.startswith(self.line) for line in lines if line.strip())
        if closing is None or not indented or not "".join(lines).strip():
            return self.ambiguous_step(run)
        return RewriteStep(closing.end(), run[0] + self.rewrite_code(code, certain=True) + closing[0])
