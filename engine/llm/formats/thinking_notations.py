"""How models mark their thoughts, and what encloses an answer after them. All are in lower case."""

from __future__ import annotations

import re
import sys
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    _Tree = dict[str, "_Tree"]

_TAGS = """
reason reasoning reasoning_content reflection scratchpad analysis cot chain_of_thought rationale monologue
inner_monologue internal_monologue internal_thoughts inner_thoughts inner_thought internal_reasoning thought_process
thinking_process reasoning_process reasoning_steps deliberation deliberate ponder pondering contemplation
self_reflection self_critique brainstorm brainstorming scratchpad_reasoning
search_quality_reflection search_quality_score
antthinking ant_thinking deepthink seed:think mm:think longcat_think minimax:think
思考 思考過程 gedanken überlegung denkprozess réflexion raisonnement razonamiento pensamiento raciocínio pensamento
"""
# Tags that a text may have too: thoughts only at the very start of a reply.
_HEAD_TAGS = ("plan", "planning", "draft", "drafting", "internal", "inner", "scratch", "contemplate", "introspection")
_MIXED_TAGS = ("think", "thinking", "thought", "thoughts")  # models close one with another
# Compounds of these, with "_", "-" or nothing between.
_OWNERS = ("my", "assistant", "internal", "inner", "hidden", "model", "private", "silent", "deep", "ai", "agent")
_PARTS = ("process", "steps", "block", "content", "trace", "notes")
_COMPOUNDS = (
    *((owner, noun) for owner in _OWNERS for noun in ("think", "thinking", "thought", "thoughts", "reasoning")),
    *((noun, part) for part in _PARTS for noun in ("thinking", "thought", "reasoning")),
    *(("chain-of", "thought"), ("chain_of", "thoughts"), ("chain-of", "thoughts")),
)
_COMPOUND_TAGS = tuple(
    dict.fromkeys(
        name
        for before, behind in _COMPOUNDS
        for joint in ("_", "-", "")
        if (name := f"{before}{joint}{behind}") not in _TAGS.split()
    )
)
_ASIDES = tuple(f"{mark}({word}:" for mark in ("", "*") for word in _MIXED_TAGS)
_PIPES = ("thinking", "think", "reasoning", "thought", "thoughts", "cot", "reflection", "scratchpad")
_PIPE_CLOSINGS = tuple(closing for name in _PIPES for closing in (f"<|/{name}|>", f"<|{name}_end|>", f"<|end_{name}|>"))
_WIDE_BRACKETS = (("＜", "＞"), ("〈", "〉"), ("《", "》"), ("【", "】"))
# Headings of thoughts and of the answer behind them, in the languages of the bot.
_THOUGHT_HEADINGS = (
    *("thinking", "thoughts", "thought", "thought process", "thinking process", "reasoning", "internal reasoning"),
    *("my thinking", "my reasoning", "gedanken", "überlegung", "überlegungen", "denkprozess", "réflexion"),
    *("raisonnement", "razonamiento", "pensamiento", "raciocínio", "pensamento", "思考", "推論", "思考過程"),
)
_ANSWER_HEADINGS = (
    *("answer", "final answer", "response", "final response", "antwort", "endgültige antwort", "réponse"),
    *("réponse finale", "respuesta", "respuesta final", "resposta", "resposta final", "回答", "最終回答", "答え"),
)
_DETAILS = tuple(
    f"<details{behind}>{gap}<summary>{begin}{word}{end}</summary>"
    for behind in ("", " open")
    for gap in ("", "\n")
    for begin, end in (("", ""), ("", "..."), ("<b>", "</b>"))
    for word in (
        "thinking",
        "thoughts",
        "thought process",
        "thinking process",
        "reasoning",
        "show thinking",
        "show reasoning",
    )
)
# Thoughts in a quotation, which a blank line ends. Only dots or an emoji tell them from what a source says.
_QUOTED = (
    *(
        f"> {begin}{word}{end}\n"
        for word in ("thinking", "reasoning", "thought process", "thoughts")
        for begin, end in (
            *((mark, f"{dots}{mark}") for mark in ("", "*", "**") for dots in ("...", "…")),
            *(("💭 ", ""), ("💭 **", "**")),
        )
    ),
    *(f"*thinking{dots}*\n\n> " for dots in ("...", "…")),
)
_COMMENTS = tuple(
    f"<!--{gap}{word}" for gap in ("", " ") for word in ("think", "thought", "reasoning", "internal", "scratchpad")
)
_CHANNEL_ENDS = ("", " ", " <|constrain|>json")


class Notation(NamedTuple):
    """How a family of models marks its thoughts.

    `heads` open thoughts only at the very start of a reply. `nests`: a mark within thoughts opens more of them.
    `needs_end`: without a closing mark, or without an answer behind it, it is text.
    """

    opening: tuple[str, ...]
    closing: tuple[str, ...]
    heads: tuple[str, ...] = ()
    nests: bool = True
    needs_end: bool = False


def _opening_tags(name: str) -> tuple[str, ...]:
    """The ways to write an opening tag; one with a blank behind the name may have attributes."""
    plain = (f"<{name}>", f"<{name} ", f"<{name}\n", f"< {name}>", f"< {name} >")
    return (*plain, f"&lt;{name}&gt;", f"\\<{name}\\>", f"\\<{name}>")


def _closing_tags(name: str) -> tuple[str, ...]:
    plain = (f"</{name}>", f"</{name} >", f"</{name}\n>", f"</ {name}>", f"</ {name} >", f"< /{name}>", f"< /{name} >")
    return (*plain, f"&lt;/{name}&gt;", f"\\</{name}\\>", f"\\</{name}>")


def _headings(words: tuple[str, ...]) -> tuple[str, ...]:
    """The ways to write a heading of a part of a reply, in Markdown or without it."""
    return tuple(
        text
        for word in words
        for text in (
            *(
                f"**{word}:**",
                f"**{word} :**",
                f"**{word}\u00a0:**",
                f"{word} :\n",
                f"【{word}】",
                f"**{word}**:",
                f"**{word}：**",
                f"**{word}**\n",
                f"*{word}:*",
                f"*{word}...*\n",
                f"*{word}…*\n",
                f"*{word}*\n",
                f"{word}:\n",
                f"{word}：\n",
            ),
            *(f"{'#' * level} {word}{end}\n" for level in range(1, 7) for end in ("", ":")),
        )
    )


def _inline(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{word}{colon}" for word in words for colon in (": ", " : ", "\u00a0: ", "："))


NOTATIONS = (
    Notation(
        tuple(tag for name in _MIXED_TAGS for tag in _opening_tags(name)),
        (*(tag for name in _MIXED_TAGS for tag in _closing_tags(name)), *_PIPE_CLOSINGS),
    ),
    *(Notation(_opening_tags(name), _closing_tags(name)) for name in _TAGS.split()),
    *(
        Notation(
            (f"<|{name}|>", f"<|{name}_start|>", f"<|start_{name}|>", f"<|begin_{name}|>"),
            (
                *_PIPE_CLOSINGS,
                *_closing_tags("think"),
                *(f"{end}<|begin|>assistant<|content|>" for end in ("", "<|end|>", "<|end|>\n")),  # Solar Open
            ),
        )
        for name in _PIPES
    ),
    *(
        Notation((), (f"\n{fence}\n",), tuple(f"{fence}{name}\n" for name in (*_MIXED_TAGS, "reasoning")))
        for fence in ("```", "~~~")
    ),
    Notation(("[think]", "[thinking]", "[reasoning]"), ("[/think]", "[/thinking]", "[/reasoning]")),  # Magistral
    *(Notation((), _closing_tags(name), _opening_tags(name), nests=False, needs_end=True) for name in _HEAD_TAGS),
    Notation(tuple(f"<{name}>" for name in _COMPOUND_TAGS), tuple(f"</{name}>" for name in _COMPOUND_TAGS)),
    Notation((), (")\n", ")*\n"), _ASIDES, nests=False, needs_end=True),
    *(
        Notation((f"{left}{name}{right}",), (f"{left}/{name}{right}", f"{left}／{name}{right}"))
        for left, right in _WIDE_BRACKETS
        for name in _MIXED_TAGS
    ),
    Notation(("<｜begin▁of▁thinking｜>", "<｜think｜>"), ("<｜end▁of▁thinking｜>", "<｜/think｜>")),
    Notation((), ("</details>",), _DETAILS),
    Notation((), ("-->",), _COMMENTS),
    Notation((), ("...done thinking.", "…done thinking."), ("thinking...\n", "thinking…\n"), needs_end=True),  # Ollama
    Notation((), ("\n\n",), _QUOTED, nests=False, needs_end=True),
    Notation(
        (),
        (
            *(f"\n{heading}" for heading in (*_headings(_ANSWER_HEADINGS), *_inline(_ANSWER_HEADINGS))),
            *("【/思考】", "【／思考】"),
        ),
        (*_headings(_THOUGHT_HEADINGS), *_inline(_THOUGHT_HEADINGS)),
        nests=False,
        needs_end=True,
    ),
    Notation(("◁think▷", "◁ think ▷"), ("◁/think▷", "◁ /think ▷", "◁/ think ▷")),  # Kimi
    Notation(("<|begin_of_thought|>",), ("<|end_of_thought|>",)),
    Notation(  # HyperCLOVA X, s1
        (),
        ("<|im_start|>assistant\n", "<|im_start|>answer\n"),
        ("/think\n", "assistant/think\n", "<|im_start|>assistant/think\n", "<|im_start|>think\n"),
        needs_end=True,
    ),
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
    "<result>", "<solution>", "<|begin_of_solution|>", "<|start_response|>", "<|begin_of_box|>",
    "[begin final response]", "<|start|>assistant<|channel|>final<|message|>",
    *(f"<|channel|>{gap}final{behind}<|message|>" for gap in ("", " ") for behind in _CHANNEL_ENDS),
)  # fmt: skip
ANSWER_CLOSINGS = (
    "</answer>", "</response>", "</output>", "</final>", "</final_answer>", "</final_response>",
    "</result>", "</solution>", "<|end_of_solution|>", "<|end_response|>", "<|begin_of_box|>", "<|end_of_box|>",
    "[end final response]", "<|return|>", "<|end|>", "<|flush|>",
)  # fmt: skip
EMPTY_TAGS = tuple(f"<{name}{gap}/>" for name in _MIXED_TAGS for gap in ("", " "))  # no thoughts


def _any_of(literals: Iterable[str]) -> str:
    """The pattern of any of the literals, the longest first; one in square brackets has one case: "[Think]" is text."""
    literals = sorted(set(literals), key=len, reverse=True)
    cased = [literal for literal in literals if literal.startswith("[")]
    tree: _Tree = {}
    for literal in literals:
        node = tree
        for character in () if literal in cased else (*literal, ""):
            node = node.setdefault(character, {})
    exact = [f"(?-i:{re.escape(literal)}|{re.escape(literal.upper())})" for literal in cased]
    return "|".join(filter(None, (*exact, _write_tree(tree))))


def _write_tree(node: _Tree) -> str:
    """The pattern of a tree of characters: literals with the same start are tried together."""
    branches = [re.escape(character) + _write_tree(child) for character, child in node.items() if character]
    if len(branches) < 2 and not (branches and "" in node):
        return "".join(branches)
    return f"(?:{'|'.join(branches)}){'?' if '' in node else ''}"


_NOTHING = re.compile(r"(?!)")


class Marks:
    """Finds any of the literals: a pattern that is compiled when it is first used; those of this file take 100 ms."""

    def __init__(self, literals: Iterable[str]) -> None:
        self._literals = tuple(literals)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Looks at the first characters of the literals before it tries them one by one; without any, finds nothing."""
        if not self._literals:
            return _NOTHING
        depth = min(3, *map(len, self._literals))
        firsts = ("".join(sorted({literal[place] for literal in self._literals})) for place in range(depth))
        ahead = "".join(f"[{re.escape(first)}]" for first in firsts)
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
    """The beginnings of marks, among which that of a text is looked up: to compile a pattern of all takes 60 ms.

    They are listed when one is first looked up, which takes 20 ms and 4 MiB.
    """

    def __init__(self, literals: Iterable[str]) -> None:
        self._literals = tuple(literals)

    @cached_property
    def _starts(self) -> frozenset[str]:
        starts = {literal[:length] for literal in self._literals for length in range(1, len(literal))}
        return frozenset(starts | {start.upper() for start in starts if start.startswith("[")})  # as `_any_of` says

    @cached_property
    def _firsts(self) -> frozenset[str]:
        return frozenset(form for literal in self._literals for form in (literal[0], literal[0].upper()))

    def __contains__(self, text: str) -> bool:
        return (text if text.startswith("[") else text.lower()) in self._starts

    def find(self, text: str) -> int:
        """Where the longest end of a text begins that begins a mark; its length if none does."""
        places = (at for at, first in enumerate(text) if first in self._firsts and text[at:] in self)
        return next(places, len(text))
