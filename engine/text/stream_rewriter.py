"""Rewrite a streamed text so that the result never depends on how the stream is cut.

A step is taken only when no continuation can change it. Until then at most `MAX_HELD_CHARACTERS` are held back.

Only what every platform shows as code counts as code: a span closed on the same line, and a fence closed on a line of
its own. Renderers disagree about everything else (an unclosed backtick, a fence within a line), so after the first such
place nothing counts as code.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_HELD_CHARACTERS = 8192
MAX_SPAN_CHARACTERS = 200  # a longer span of code is treated as text
MAX_BACKTICKS = 64  # characters of context kept; a run of this many backticks is not code

PLAIN_CODE = re.compile(r"[^`\n]*")
BACKTICKS = re.compile(rf"`{{1,{MAX_BACKTICKS}}}")
FENCE = "```"
TILDES = "~~~"  # a fence in some renderers, text in others
CONTROLS = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160), 0x2028, 0x2029), " ")
DIRECTIONS = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "")  # show text in another order
REPLACED = CONTROLS | DIRECTIONS


class RewriteStep(NamedTuple):
    """One rewrite: the input up to `end` becomes `text`."""

    end: int
    text: str


class StreamRewriter:
    """Base class: ordinary text passes; subclasses override `rewrite_special`, called at characters of `special`.

    `certain`: all renderers still agree about what is code. Control characters become spaces, because some renderers
    end lines and addresses at them and others do not; overrides of the direction of writing are left out.
    """

    special: re.Pattern[str]

    def __init__(self, *, certain: bool = True) -> None:
        self.buffer = ""
        self.tail = ""  # the last characters written
        self.line = ""  # the start of the current line
        self.certain = certain
        self.is_line_split = False  # a bar within code: in the row of a table, other backticks pair
        self.scanned = 0  # characters of a pending step already examined

    def feed(self, delta: str) -> str:
        """Add a piece; returns the text that is final."""
        self.buffer += delta.translate(REPLACED)
        return self.run_steps(final=False)

    def close(self) -> str:
        """End the stream; returns the remaining text."""
        return self.run_steps(final=True)

    def run_steps(self, *, final: bool) -> str:
        """Take all steps that are certain; returns their text."""
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
        """The next step, or None if it depends on text to come."""
        if self.buffer[at] == "`":
            return self.rewrite_backticks(at, final=final)
        if self.special.match(self.buffer, at):
            return self.rewrite_special(at, final=final)
        return self.plain_step(at)

    def rewrite_special(self, at: int, *, final: bool) -> RewriteStep | None:
        """The step for a special character; by default it is ordinary text."""
        del final
        return self.plain_step(at)

    def rewrite_code(self, code: str, *, certain: bool) -> str:
        """Rewrite the content of code; if not `certain`, some renderers show it as text."""
        del certain
        return code

    def plain_step(self, at: int) -> RewriteStep:
        """Pass one character and the ordinary ones after it."""
        found = self.special.search(self.buffer, at + 1)
        end = found.start() if found else len(self.buffer)
        return RewriteStep(end, self.buffer[at:end])

    def record_step(self, read: str, wrote: str) -> None:
        """Update `tail`, `line` and `certain` after a step."""
        if TILDES in self.line[-2:] + read:
            self.certain = False
        self.tail = (self.tail + wrote[-MAX_BACKTICKS:])[-MAX_BACKTICKS:]
        _, newline, line = read.rpartition("\n")
        if newline:
            self.is_line_split = False
        self.line = (line if newline else self.line + line)[-MAX_BACKTICKS:]

    # Code.

    def rewrite_backticks(self, at: int, *, final: bool) -> RewriteStep | None:
        """A run of backticks: code if its end is certain, else text."""
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
        """Backticks that open or close code only in some renderers."""
        self.certain = False
        return RewriteStep(run.end(), run[0])

    def rewrite_code_span(self, run: re.Match[str], end: int, *, final: bool) -> RewriteStep | None:
        """Code within a line, if the backticks at `end` close it. Bars split table cells even within code."""
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
        """A fenced block: the next three backticks close it, on their own line, and no line is indented less."""
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
