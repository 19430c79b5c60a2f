"""The sentences that a message contains in its own words: without code, quotations, addresses and emoji. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_LENGTH = 1200  # characters that are looked at

_TOKEN = re.compile(r"<[@!#][^>\s<]*>|@[\w.-]+|[^\W_]+(?:['’_.@-][^\W_]+)*|[?!.…¿¡,;:\n]|[^\s\w]")
_LINK = re.compile(r"<?https?://(?:[^\s?]|\?(?!\s|\Z))*")  # a mark behind it ends the sentence
SHORTCODE = re.compile(r":([a-z][a-z0-9_+-]{1,40}):")
_TLDR = re.compile(r"\btl[;:]dr\b", re.IGNORECASE)
_QUOTED = re.compile(r"[“„«\"][^“”„«»\"\n]{1,400}[”“»\"]")
_FULLWIDTH_MARKS = str.maketrans("？！。、，：；｡", "?!.,,:;.")
_SENTENCE_ENDS = frozenset("?!.…\n")
_CLAUSE_BREAKS = frozenset(",;:")
_PLACEHOLDER = "placeholder"  # for code and quotations


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as its clauses of lower-case words without apostrophes; `raw` are its tokens as they were written."""

    clauses: tuple[tuple[str, ...], ...]
    tokens: tuple[str, ...]
    is_question: bool

    @property
    def words(self) -> tuple[str, ...]:
        """All its words."""
        return tuple(word for clause in self.clauses for word in clause)


def split_sentences(text: str) -> list[Sentence]:
    """The sentences in the words of the author: without code, quotations, addresses and emoji."""
    lines = [line for line in _truncate(text).split("\n") if not line.lstrip().startswith((">", "&gt;"))]
    bare = _without_code("\n".join(lines)).translate(_FULLWIDTH_MARKS)
    bare = _TLDR.sub("tldr", bare)
    bare = _QUOTED.sub(f" {_PLACEHOLDER} ", SHORTCODE.sub(" ", _LINK.sub(" ", bare)))
    sentences, raw = list[Sentence](), list[str]()
    for token in [*_TOKEN.findall(bare), "\n"]:
        if token in _SENTENCE_ENDS:
            asks = token == "?"  # noqa: S105 - a token of a sentence
            if made := _build_sentence(raw, asks=asks):
                sentences.append(made)
            elif asks and sentences:  # "what?!?"
                sentences[-1] = Sentence(sentences[-1].clauses, sentences[-1].tokens, is_question=True)
            raw = []
        else:
            raw.append(token)
    return [sentence for sentence in sentences if set(sentence.words) != {_PLACEHOLDER}]


def _truncate(text: str) -> str:
    """The beginning and the end of a long message."""
    return text if len(text) <= MAX_LENGTH else f"{text[: MAX_LENGTH // 2]}\n{text[-MAX_LENGTH // 2 :]}"


def _without_code(text: str) -> str:
    """Code in closed fences and spans replaced by one word."""
    for mark in ("```", "`"):
        parts = text.split(mark)
        inside = len(parts) - 1 if len(parts) % 2 else len(parts) - 2
        text = "".join(f" {_PLACEHOLDER} " if at % 2 and at < inside else part for at, part in enumerate(parts))
    return text


def normalize_word(word: str) -> str:
    """A word in small letters without apostrophes."""
    return word.casefold().replace("'", "").replace("’", "")


def _build_sentence(raw: Sequence[str], *, asks: bool) -> Sentence | None:
    clauses: list[list[str]] = [[]]
    for token in raw:
        if token in _CLAUSE_BREAKS:
            clauses.append([])
        elif token[0].isalnum() or token[0] in "<@":
            clauses[-1].append(normalize_word(token))
    words = tuple(tuple(clause) for clause in clauses if clause)
    return Sentence(words, tuple(raw), asks or "¿" in raw) if words else None
