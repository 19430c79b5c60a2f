"""Addresses: one that the model composed could carry a secret to a stranger's server, so only known ones are links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.mentions import ALARM, ALARMS, BEGUN, MENTION, UNSEEN, disarm, harmless, mentioned
from engine.scanning import Scanner, Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST = 2048  # characters of an address
LABEL = 400  # characters of the words of a link
CUTS = 16  # places at which one address in a text may be meant to end

ENDS = ".,;:!?'\"*_~"  # at the end of an address they rather belong to the sentence
ASIDE = r"\[|，。；：！？、（）【】「」《》"  # what surely is no part of an address
CUT = re.compile(rf"[`\"'(){{}}\]{ASIDE}]")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+-]*\Z")
ADDRESS = re.compile(r"(?:[A-Za-z][A-Za-z0-9+-]*://|(?<![A-Za-z0-9])www\.)[^\s<>]+", re.IGNORECASE)
RUN = re.compile(rf"[^\s<>`]{{0,{LONGEST}}}")
CLOSERS = re.compile(rf"[{ENDS})\]}}]{{0,4}}(?=[{ASIDE}]|\Z)")
TITLE = r"""\s+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\))"""
PLACE = r"[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*"
TARGET = re.compile(rf"\(\s*(?:<(?P<angled>[^<>\n]*)>|(?P<bare>{PLACE}))(?P<title>{TITLE})?\s*\)")
TARGET_SO_FAR = re.compile(r"""\(\s*(?:<[^<>\n]*>?|[^\s<]*)(?:\s+(?:"[^"\n]*"?|'[^'\n]*'?|\([^()\n]*\)?)?)?\s*\Z""")
DEFINITION = re.compile(r":[ \t]*([^\s<>]*)")
ANGLE = re.compile(r"<([^\s<>|]+)(?:\|([^<>\n]*))?>")
ANGLE_SO_FAR = re.compile(r"<(?:[^\s<>|]+(?:\|[^<>\n]*)?)?\Z")
BRACKET = re.compile(r"[\[\]]|\n\s*\n")
NUMBER = re.compile(r"\[\d+\]")


class Links(Scanner):
    """Lets a link through only if its whole address is known; others become text that no platform makes a link of.

    `https://evil.com/x` is shown as `https[:]//evil[.]com/x`, `[words](https://evil.com)` as `[words] (https[:]//…)`,
    a picture as a plain link. Within code, where some platforms make links, too, addresses and mentions are treated
    alike, and nothing else is touched.
    """

    special = re.compile(r"[\[!<:@wW`~]")

    def __init__(self, known: frozenset[str], named: frozenset[str], *, code: bool = False) -> None:
        super().__init__()
        self.known = known
        self.named = named
        self.code = code

    @classmethod
    def knowing(cls, texts: Iterable[str], question: str) -> Links:
        """Knows the addresses in the texts and in the question, and whom the question mentions."""
        known = frozenset(address for text in (*texts, question) for address in addresses(text))
        return cls(known, mentioned(question))

    def step(self, at: int, *, final: bool) -> Step | None:
        if self.code and self.buffer[at] in "`~":
            return self.plain(at)
        return super().step(at, final=final)

    def token(self, at: int, *, final: bool) -> Step | None:
        match self.buffer[at]:
            case "@":
                return self.alarm(at, final=final)
            case "<":
                return self.angle(at, final=final)
            case ":":
                return self.address(at, "://", final=final)
            case "w" | "W":
                return self.plain(at) if self.tail[-1:].isalnum() else self.address(at, "www.", final=final)
            case _:
                return self.plain(at) if self.fence or self.code else self.bracket(at, final=final)

    def inside(self, code: str) -> str:
        return self.within(code, code=True)

    def within(self, text: str, *, code: bool = False) -> str:
        """A text that is whole: the words of a link, a title, a span of code."""
        inner = Links(self.known, self.named, code=code or self.code or bool(self.fence))
        return inner.feed(text) + inner.close()

    def knows(self, address: str) -> bool:
        """Whether it is known, and calls nobody."""
        return address in self.known and not ALARM.search(address)

    def alarm(self, at: int, *, final: bool) -> Step | None:
        """A call to everybody."""
        if ALARM.match(self.buffer, at):
            return Step(at + 1, "@" + UNSEEN)
        rest = self.buffer[at + 1 : at + 9].lower()
        hold = not final and any(alarm.startswith(rest) for alarm in ALARMS)
        return None if hold else Step(at + 1, "@")

    def angle(self, at: int, *, final: bool) -> Step | None:
        """A mention or a link in angle brackets."""
        window = self.buffer[at : at + LONGEST]
        if mention := MENTION.match(window):
            name = harmless(mention, self.named)
            return Step(at + mention.end(), self.within(name) if mention["label"] else name)
        found = ANGLE.match(window)
        if found is None:
            hold = not final and len(window) < LONGEST and ANGLE_SO_FAR.match(window)
            return None if hold else Step(at + 1, "<" + UNSEEN * bool(BEGUN.match(window)))
        place, label = found[1], found[2]
        words = "" if label is None else "|" + self.within(label)
        if self.knows(place):
            return Step(at + found.end(), f"<{place}{words}>")
        if "://" in place or place.lower().startswith(("www.", "mailto:")) or (words and re.search("[.:]", place)):
            return Step(at + found.end(), f"({inert(place)}{words})")
        return Step(at + 1, "<")

    def address(self, at: int, mark: str, *, final: bool) -> Step | None:
        """A bare address: what stands around `://`, or begins with `www.`."""
        begun = self.buffer[at : at + len(mark)].lower()
        if len(begun) < len(mark) and mark.startswith(begun) and not final:
            return None
        scheme = SCHEME.search(self.tail) if mark == "://" else None
        if begun != mark or (mark == "://" and not scheme):
            return self.plain(at)
        run = RUN.match(self.buffer, at)
        end = run.end() if run else at
        if end == len(self.buffer) and end - at < LONGEST and not final:
            return None
        return self.bare(at, self.buffer[at:end], scheme[0] if scheme else "")

    def bare(self, at: int, run: str, scheme: str) -> Step:
        """A run without spaces, behind a scheme that is written already: the known address in it, or nothing alive."""
        behind = self.buffer[at + len(run) : at + len(run) + 1]
        for end in range(len(run), 0, -1):
            closers = CLOSERS.match(run, end)
            if closers and self.knows(scheme + run[:end]):
                # A platform takes all up to the next space for the address.
                gap = closers.end() < len(run) or behind in ("<", "`")
                return Step(at + closers.end(), run[: closers.end()] + " " * gap)
        core = run.rstrip(ENDS + ")")
        return Step(at + len(run), inert(core) + run[len(core) :] + " " * (len(run) == LONGEST))

    def bracket(self, at: int, *, final: bool) -> Step | None:
        """A link, a picture or a definition, as Markdown writes them; or just a bracket."""
        picture = self.buffer[at] == "!"
        begin = at + picture
        if self.buffer[begin : begin + 1] != "[":
            return None if begin == len(self.buffer) and not final else Step(begin, "!")
        end = closing(self.buffer, begin)
        open_yet = end is None and len(self.buffer) - begin < LABEL
        if (open_yet or end == len(self.buffer) - 1) and not final:
            return None
        if end is not None and self.buffer.startswith("(", end + 1):
            return self.link(at, end, final=final)
        if end is not None and self.buffer.startswith(":", end + 1) and self.lead and not picture:
            return self.definition(at, end, final=final)
        return self.opening(at, end)

    def opening(self, at: int, end: int | None) -> Step:
        """Just a bracket; what could be a picture by reference is kept from it by a space."""
        if self.buffer[at] == "[":
            return Step(at + 1, "[")
        number = end is not None and NUMBER.fullmatch(self.buffer, at + 1, end + 1)
        return Step(at + 2, "![" if number else "! [")

    def link(self, at: int, end: int, *, final: bool) -> Step | None:
        """`[label](target)`, the label from `at` to `end`."""
        window = self.buffer[end + 1 : end + 1 + LONGEST]
        target = TARGET.match(window)
        if target is None:
            hold = not final and len(window) < LONGEST and TARGET_SO_FAR.match(window)
            return None if hold else self.opening(at, end)
        place = target["bare"] if target["angled"] is None else target["angled"]
        picture = self.buffer[at] == "!"
        label = self.buffer[at + picture : end + 1]
        words = self.within(label[1:-1])
        if not self.knows(place):
            shown = f"[{words}] ({inert(place)})" if words else f"({inert(place)})"
        elif NUMBER.fullmatch(label):
            shown = f"{label} (<{place}>)"
        elif picture and not words:
            shown = f"<{place}>"
        else:
            # Behind another exclamation mark it would be a picture again.
            apart = " " * (picture and self.tail.endswith("!"))
            shown = f"{apart}[{words}]({place}{self.within(target['title'] or '')})"
        return Step(end + 1 + target.end(), shown)

    def definition(self, at: int, end: int, *, final: bool) -> Step | None:
        """`[label]: target` at the beginning of a line; where it is not known, a space takes its meaning away."""
        found = DEFINITION.match(self.buffer, end + 1, end + 1 + LONGEST)
        place = found[1] if found else ""
        stop = end + 1 + (len(found[0]) if found else 0)
        if stop == len(self.buffer) and stop - end <= LONGEST and not final:
            return None
        label = self.buffer[at : end + 1]
        words = self.within(label[1:-1])
        if self.knows(place) and not NUMBER.fullmatch(label):
            return Step(stop, f"[{words}]{self.buffer[end + 1 : stop]}")
        return Step(end + 2, f"[{words}] :")


def closing(text: str, begin: int) -> int | None:
    """Where the bracket at `begin` closes, if it does within the length of a label and the paragraph."""
    if text.find("]", begin, begin + LABEL) < 0:
        return None
    depth = 0
    for found in BRACKET.finditer(text, begin, begin + LABEL):
        depth += {"[": 1, "]": -1}.get(found[0], 0)
        if depth == 0:
            return found.start()
        if found[0][0] == "\n":
            return None
    return None


def inert(address: str) -> str:
    """An address that can be read and is none: `https[:]//evil[.]com`."""
    return disarm(address.replace("://", "[:]//").replace(".", "[.]").replace("](", "] (").replace("![", "! ["))


def addresses(text: str) -> Iterator[str]:
    """The addresses in a text; where its end is in doubt, each that may be meant."""
    for found in ADDRESS.finditer(text):
        run = found[0][:LONGEST]
        for end in (len(run), *[cut.start() for cut in CUT.finditer(run)][:CUTS]):
            for meant in (run[:end], run[:end].rstrip(ENDS)):
                yield meant
                if "://www." in meant:
                    yield meant.partition("://")[2]
