"""How models mark their thoughts, and what encloses an answer after them. All are in lower case."""

from __future__ import annotations

import re
import sys
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TAGS = """
reason reasoning reasoning_content reflection scratchpad analysis cot chain_of_thought rationale monologue
inner_monologue internal_monologue internal_thoughts thought_process antthinking deepthink seed:think mm:think
longcat_think
"""
_MIXED_TAGS = ("think", "thinking", "thought", "thoughts")  # models close one with another
_PIPES = ("thinking", "think", "reasoning", "thought")
_CHANNEL_ENDS = ("", " ", " <|constrain|>json")


class Notation(NamedTuple):
    """How a family of models marks its thoughts.

    `heads` open thoughts only at the very start of a reply. `nests`: a mark within thoughts opens more of them.
    """

    opening: tuple[str, ...]
    closing: tuple[str, ...]
    heads: tuple[str, ...] = ()
    nests: bool = True


def _opening_tags(name: str) -> tuple[str, ...]:
    """The ways to write an opening tag; one with a blank behind the name may have attributes."""
    plain = (f"<{name}>", f"<{name} ", f"<{name}\n", f"< {name}>", f"< {name} >")
    return (*plain, f"&lt;{name}&gt;", f"\\<{name}\\>", f"\\<{name}>")


def _closing_tags(name: str) -> tuple[str, ...]:
    plain = (f"</{name}>", f"</{name} >", f"</{name}\n>", f"</ {name}>", f"</ {name} >", f"< /{name}>", f"< /{name} >")
    return (*plain, f"&lt;/{name}&gt;", f"\\</{name}\\>", f"\\</{name}>")


NOTATIONS = (
    Notation(
        tuple(each for name in _MIXED_TAGS for each in _opening_tags(name)),
        tuple(each for name in _MIXED_TAGS for each in _closing_tags(name)),
    ),
    *(Notation(_opening_tags(name), _closing_tags(name)) for name in _TAGS.split()),
    *(
        Notation(
            (f"<|{name}|>", f"<|{name}_start|>", f"<|start_{name}|>", f"<|begin_{name}|>"),
            (f"<|/{name}|>", f"<|{name}_end|>", f"<|end_{name}|>"),
        )
        for name in _PIPES
    ),
    *(
        Notation((), (f"\n{fence}\n",), tuple(f"{fence}{name}\n" for name in (*_MIXED_TAGS, "reasoning")))
        for fence in ("```", "~~~")
    ),
    Notation(("[think]", "[thinking]", "[reasoning]"), ("[/think]", "[/thinking]", "[/reasoning]")),  # Magistral
    Notation(("◁think▷", "◁ think ▷"), ("◁/think▷", "◁ /think ▷", "◁/ think ▷")),  # Kimi
    Notation(("<|begin_of_thought|>",), ("<|end_of_thought|>",)),
    Notation(("<|inner_prefix|>",), ("<|inner_suffix|>",)),  # Apertus
    Notation(("<|think:start|>",), ("<|think:end|>",)),  # Solar
    Notation(("<|channel>thought",), ("<channel|>",)),  # Gemma
    Notation(("<unused94>thought",), ("<unused95>",)),  # MedGemma
    Notation(("[unused16]",), ("[unused17]",)),  # Pangu
    Notation(('<details type="reasoning"',), ("</details>",)),
    Notation(  # gpt-oss; its channels, with their marks and without
        (
            *(f"<|channel|>{gap}{name}" for gap in ("", " ") for name in ("analysis", "commentary")),
            "<|start|>assistant<|channel|>analysis",
        ),
        tuple(f"<|channel|>{gap}final{behind}<|message|>" for gap in ("", " ") for behind in _CHANNEL_ENDS),
        nests=False,
    ),
    Notation((), ("assistantfinal",), ("analysis",)),
    Notation((), ("here is my response:", "here's my response:"), ("here is my thought process:",)),  # Granite
    Notation((), ("here is my response:", "here's my response:"), ("here's my thought process:",)),
    Notation((), ("[begin final response]",), ("here are my reasoning steps:",)),  # Apriel
)
# A closing mark that text may have too ends thoughts only after their own opening mark.
AMBIGUOUS_CLOSINGS = frozenset(
    ("</details>", "assistantfinal", *_closing_tags("analysis"), *_closing_tags("rationale"))
)
# What encloses an answer after thoughts, and what ends it.
ANSWER_OPENINGS = (
    "<answer>", "<response>", "<output>", "<final>", "<final_answer>", "<final_response>",
    "<|begin_of_solution|>", "<|start_response|>",
    "[begin final response]", "<|start|>assistant<|channel|>final<|message|>",
    *(f"<|channel|>{gap}final{behind}<|message|>" for gap in ("", " ") for behind in _CHANNEL_ENDS),
)  # fmt: skip
ANSWER_CLOSINGS = (
    "</answer>", "</response>", "</output>", "</final>", "</final_answer>", "</final_response>",
    "<|end_of_solution|>", "<|end_response|>",
    "[end final response]", "<|return|>", "<|end|>",
)  # fmt: skip
EMPTY_TAGS = tuple(f"<{name}{gap}/>" for name in _MIXED_TAGS for gap in ("", " "))  # no thoughts


def _any_of(literals: Iterable[str]) -> str:
    return "|".join(map(_escape, sorted(set(literals), key=len, reverse=True)))


def _escape(literal: str) -> str:
    """The pattern of a literal; one in square brackets has one case only: "[Think]" is text."""
    escaped = re.escape(literal)
    return f"(?-i:{escaped}|{re.escape(literal.upper())})" if literal.startswith("[") else escaped


class Marks:
    """Finds any of the literals: a pattern that is compiled when it is first used; those of this file take 100 ms."""

    def __init__(self, literals: Iterable[str]) -> None:
        self._literals = tuple(literals)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Looks at the first characters of the literals before it tries them one by one; without any, finds nothing."""
        if not self._literals:
            return re.compile(r"(?!)")
        depth = min(3, *map(len, self._literals))
        firsts = ("".join(sorted({each[place] for each in self._literals})) for place in range(depth))
        ahead = "".join(f"[{re.escape(each)}]" for each in firsts)
        return re.compile(rf"(?={ahead})(?:{_any_of(self._literals)})", re.IGNORECASE)

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The first mark from a position on."""
        return self.pattern.search(text, start)

    def match(self, text: str) -> re.Match[str] | None:
        """The mark with which a text begins."""
        return self.pattern.match(text)

    def is_mark(self, text: str) -> bool:
        """Whether a text is a mark and nothing else."""
        return self.pattern.fullmatch(text) is not None

    def finditer(self, text: str, start: int, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        """All marks between two positions."""
        return self.pattern.finditer(text, start, end)


class Beginnings:
    """The beginnings of marks, among which that of a text is looked up: to compile a pattern of all takes 60 ms."""

    def __init__(self, literals: Iterable[str]) -> None:
        starts = {each[:length] for each in literals for length in range(1, len(each))}
        cased = {each for each in starts if each.startswith("[")}  # as `_escape` says
        self._exact = frozenset(cased | {each.upper() for each in cased})
        self._lower = frozenset(starts - cased)
        self._firsts = frozenset(form for each in starts for form in (each[0], each[0].upper()))

    def __contains__(self, text: str) -> bool:
        return text in self._exact or text.lower() in self._lower

    def find(self, text: str) -> int:
        """Where the longest end of a text begins that begins a mark; its length if none does."""
        places = (at for at, first in enumerate(text) if first in self._firsts and text[at:] in self)
        return next(places, len(text))
