"""The filter between a model and its reader: citations that were given, addresses that stand in a source, no pings.

Two stages, each independent of how the text is cut into deltas: first the numbers, then links and mentions; in this
order, because a number that is dropped may join what stood beside it into an address.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.answers.links.stream import Links
from engine.text.stream_rewriter import Scanner, Step

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

LIMIT = 200  # characters of a list of numbers in brackets
PADDING = 16  # spaces before a dropped citation that go with it
JOINT = "·"  # stands where a dropped number would otherwise let its neighbours grow together into a citation or code

FREELY = re.IGNORECASE | re.DOTALL
BLANK = r"[\s\u00ad\u200b-\u200d\u2060\ufeff]"
OPEN = "[【［"
EDGE = re.compile(r"[\[\]【】［］]")
ITEM = rf"(?:\^|(?:sources?|refs?)[.:]?{BLANK}*+)?\d{{1,9}}(?:{BLANK}*+[-‐-―−]{BLANK}*+\d{{1,9}})?"
COMMA = rf"(?:[,;&，、；]|and){BLANK}*+"
NOTE = r"(?::\d+)?†.*"  # as some models end a citation: 【4:0†file】
LIST = re.compile(
    rf"\A{BLANK}*+{ITEM}(?:(?:{BLANK}++(?:{COMMA})?|{COMMA}){ITEM})*(?:{BLANK}|[,;\\])*+(?:{NOTE})?\Z", FREELY
)
PARTS = re.compile(rf"(\d{{1,9}})(?:{BLANK}*[-‐-―−]{BLANK}*(\d{{1,9}}))?")
HALF = re.compile(rf"(?:\^|(?:sources?|refs?)[.:]?)?(?:{BLANK}|[\d,;&，、；^‐-―−\\-])*", FREELY)
LISTLIKE = re.compile(rf"(?:{BLANK}|[\w,;&，、；^‐-―−\\.:-])*")
SPACES = re.compile(r"[ \t\u00a0]*")


class Citing:
    """Fed with what a model writes, gives what a reader may see.

    `numbers` are those of the sources that the model was given; `texts` the recalled texts (and any address that
    may be shown); `titles` what the sources are called; `question` what was asked, whose links and mentions of
    people may be repeated.

    Numbers: `[1]`, `[1, 2]`, `[1-3]`, `[^1]`, `[source 1]`, `【1】`. Those given are numbered anew in the order of
    their first use, one pair of brackets each; the others go, with the spaces before them. Code is left alone:
    `a[1]` between backticks is no citation. A lone year in brackets is text, too.
    """

    def __init__(
        self, numbers: Collection[int], texts: Iterable[str], question: str, titles: Iterable[str] = ()
    ) -> None:
        self.citations = Citations(frozenset(numbers))
        self.links = Links.knowing(texts, question, titles)

    @property
    def used(self) -> tuple[int, ...]:
        """The numbers as they were given, in the order of first use: the first is shown as [1]."""
        return tuple(self.citations.used)

    def feed(self, delta: str) -> str:
        """What may be shown once `delta` has come, too."""
        return self.links.feed(self.citations.feed(delta))

    def close(self) -> str:
        """The rest, when the model has ended."""
        return self.links.feed(self.citations.close()) + self.links.close()


class Citations(Scanner):
    """The first stage: numbers in brackets."""

    special = re.compile(r"[ \t\u00a0\\\[【［`]")

    def __init__(self, given: frozenset[int], *, certain: bool = True) -> None:
        super().__init__(certain=certain)
        self.given = given
        self.used: dict[int, int] = {}
        self.opened = False  # behind a bracket that is text, with nothing but what a list of numbers may hold since

    def token(self, at: int, *, final: bool) -> Step | None:
        edge = self.after_spaces(at)
        if edge - at > PADDING:
            return Step(edge - PADDING, self.buffer[at : edge - PADDING])
        begin = edge + self.buffer.startswith("\\", edge)
        if begin == len(self.buffer):
            return Step(begin, self.buffer[at:]) if final else None
        if self.buffer[begin] not in OPEN:
            return Step(begin, self.buffer[at:begin])
        return self.bracket(at, begin, final=final)

    def inside(self, code: str, *, certain: bool) -> str:
        if certain:
            return code
        inner = Citations(self.given, certain=False)
        inner.used = self.used
        return inner.feed(code) + inner.close()

    def after_spaces(self, at: int) -> int:
        """Where the spaces from here on end."""
        found = SPACES.match(self.buffer, at)
        return found.end() if found else at

    def bracket(self, at: int, begin: int, *, final: bool) -> Step | None:
        """A bracket at `begin`, with what stands before it from `at`: a citation, or text."""
        edge = EDGE.search(self.buffer, begin + 1, begin + LIMIT)
        if edge is None:
            return self.unfinished(at, begin, final=final)
        cited = None if edge[0] in OPEN else self.cited(self.buffer[begin + 1 : edge.start()])
        if cited is None:
            return Step(begin + 1, self.buffer[at : begin + 1])
        return Step(edge.end(), self.shown(self.buffer[at : self.after_spaces(at)], cited))

    def unfinished(self, at: int, begin: int, *, final: bool) -> Step | None:
        """A bracket that does not close: wait; at the end, half a citation goes; too long a one loses its bracket."""
        content = self.buffer[begin + 1 : begin + LIMIT]
        short = len(self.buffer) - begin < LIMIT
        if short and not final:
            return None
        if not HALF.fullmatch(content) or (short and not any(map(str.isdigit, content))):
            return Step(begin + 1, self.buffer[at : begin + 1])
        return Step(len(self.buffer), "") if short else Step(begin + 1, self.buffer[at:begin] + JOINT)

    def cited(self, content: str) -> list[int] | None:
        """The given ones among the numbers in brackets, or None if these are not numbers."""
        if not LIST.fullmatch(content):
            return None
        spans = [(int(low), int(high or low)) for low, high in PARTS.findall(re.sub(NOTE, "", content, flags=FREELY))]
        if len(spans) == 1 and any(1900 <= number <= 2099 and number not in self.given for number in spans[0]):
            return None
        listed = [number for span in spans for number in sorted(self.given) if min(span) <= number <= max(span)]
        return list(dict.fromkeys(listed))

    def shown(self, before: str, cited: list[int]) -> str:
        """The citations under their new numbers; nothing if there is none left."""
        if not cited:
            if self.opened:
                return before + JOINT
            return (before or JOINT) if self.tail.endswith(("`", "~")) else ""
        return before + "".join(f"[{self.used.setdefault(number, len(self.used) + 1)}]" for number in cited)

    def note(self, read: str, wrote: str) -> None:
        super().note(read, wrote)
        if wrote and wrote[-1] in OPEN:
            self.opened = True
        else:
            self.opened = self.opened and bool(LISTLIKE.fullmatch(wrote))
