"""Compare short values after a label: "On call in week 12: Ada". Pure."""

from __future__ import annotations

import re

from engine.llm.offline.supersession.clauses import list_tokens

MIN_LABEL_WORDS = 2
_LABEL = re.compile(r"([^:.!?]{3,60}):\s{1,2}([^\s,;:]{1,40}(?: [^\s,;:]{1,40}){0,2}?)[.!]?")


def has_same_label(new: str, old: str) -> bool:
    """Whether both are short values of one thing: "On call in week 12: Ada"."""
    labels, values = zip(*(_split_label(text) for text in (new, old)), strict=True)
    return len(labels[0]) >= MIN_LABEL_WORDS and labels[0] == labels[1] and values[0] != values[1]


def _split_label(text: str) -> tuple[frozenset[str], str]:
    found = _LABEL.fullmatch(text.strip())
    return (list_tokens(found[1]), found[2].casefold()) if found else (frozenset(), "")
