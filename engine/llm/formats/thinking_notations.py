"""How models mark their thoughts, and what encloses an answer after them. All are in lower case."""

from __future__ import annotations

from typing import NamedTuple

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
