"""How models mark their thoughts, and what encloses an answer after them. All are in lower case."""

from __future__ import annotations

from typing import NamedTuple

_TAGS = """
reason reasoning reasoning_content reflection scratchpad analysis cot chain_of_thought rationale monologue
inner_monologue internal_monologue internal_thoughts inner_thoughts inner_thought internal_reasoning thought_process
thinking_process reasoning_process reasoning_steps deliberation deliberate ponder pondering contemplation
self_reflection self_critique brainstorm brainstorming
antthinking deepthink seed:think mm:think longcat_think
"""
# Tags that a text may have too: thoughts only at the very start of a reply.
_HEAD_TAGS = ("plan", "planning", "internal", "inner", "scratch", "contemplate", "introspection")
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
_PIPES = ("thinking", "think", "reasoning", "thought")
_WIDE_BRACKETS = (("＜", "＞"), ("〈", "〉"), ("《", "》"))
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
        each
        for word in words
        for each in (
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
    Notation(
        (),
        tuple(f"\n{each}" for each in (*_headings(_ANSWER_HEADINGS), *_inline(_ANSWER_HEADINGS))),
        (*_headings(_THOUGHT_HEADINGS), *_inline(_THOUGHT_HEADINGS)),
        nests=False,
        needs_end=True,
    ),
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
    "<solution>", "<|begin_of_solution|>", "<|start_response|>", "<|begin_of_box|>",
    "[begin final response]", "<|start|>assistant<|channel|>final<|message|>",
    *(f"<|channel|>{gap}final{behind}<|message|>" for gap in ("", " ") for behind in _CHANNEL_ENDS),
)  # fmt: skip
ANSWER_CLOSINGS = (
    "</answer>", "</response>", "</output>", "</final>", "</final_answer>", "</final_response>",
    "</solution>", "<|end_of_solution|>", "<|end_response|>", "<|begin_of_box|>", "<|end_of_box|>",
    "[end final response]", "<|return|>", "<|end|>",
)  # fmt: skip
EMPTY_TAGS = tuple(f"<{name}{gap}/>" for name in _MIXED_TAGS for gap in ("", " "))  # no thoughts
