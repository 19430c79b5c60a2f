"""Split texts into sentences: prose at full stops, lists and tables at lines, chat lines by speaker. Pure.

Several descriptions are merged by their leading sentences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engine.llm.offline.names.vocabulary import GIVEN_NAMES
from engine.text.cleanup import MESSAGE_TIME
from engine.text.word_lists import STOP_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_SENTENCE_LENGTH = 400
MAX_WORD_LENGTH = 40

# A full stop after these never ends a sentence; after the second list it does not if a number follows.
_ABBREVIATIONS = word_set(
    "mr mrs ms dr prof st sr jr rev hon capt col gen lt sgt fr hr vs cf e.g i.e z.b d.h bzw ca approx mme mlle sig"
)
_NUMBER_ABBREVIATIONS = word_set(
    """
    no nos nr p pp vol fig sec art ch ed etc inc ltd co corp dept est jan feb mar apr jun jul aug sep sept oct nov dec
    a.m p.m
    """
)
# After these a sentence goes on before a capital, unless somebody is named: "in the U.S. Anna lives".
_COUNTRIES = word_set("u.s u.s.a u.k u.n u.a.e e.u d.c")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s)|[。！？]++[」』”]*+")
_PARAGRAPHS = re.compile(r"\n\s*\n")
_NEXT = re.compile(r"\s*+((\S?)\w*)")
_INITIALS = re.compile(r"(?:[a-z]\.)+[a-z]")
_WORD_BEFORE = re.compile(r"(?<![\w.])[\w.]*+$")
_CHAT = re.compile(rf"\[({MESSAGE_TIME})\] ([^:\n]{{1,80}}): ?(.*)", re.DOTALL)
_CHAT_STARTS = re.compile(rf"^(?=\[{MESSAGE_TIME}\] [^:\n]{{1,80}}:)", re.MULTILINE)
_LIST_MARKER = re.compile(r"\A(?:[-*•‣–]|\(?\d{1,3}[.)])\s+(?=\S)")

# About 600 tokens of English.
MAX_CHARACTERS = 2400


@dataclass(frozen=True, slots=True)
class ChatLine:
    """`[time] speaker: text`, the form of messages in chunks; the text may have several lines."""

    time: str
    speaker: str
    text: str


def parse_chat_line(text: str) -> ChatLine | None:
    """The message if the text is one, else None."""
    found = _CHAT.fullmatch(text.strip())
    return ChatLine(found[1], found[2].strip(), found[3].strip()) if found else None


def split_chat_lines(text: str) -> list[ChatLine | str]:
    """The chat lines of a text in order, and the text outside of them."""
    parts = (part.strip() for part in _CHAT_STARTS.split(text))
    return [parse_chat_line(part) or part for part in parts if part]


class TextPiece(NamedTuple):
    """A sentence, and whether it belongs to an item of a list or is a row of a table."""

    text: str
    is_item: bool


def split_sentences(text: str) -> list[str]:
    """The sentences of a text in order, with whitespace collapsed and list markers removed.

    Every line ends a sentence unless the next one continues in lower case. A table row (cells between bars) gets the
    column headers: "Day: Monday; Opens: 9:00".
    """
    return [piece.text for piece in split_pieces(text)]


def split_pieces(text: str) -> list[TextPiece]:
    """The sentences of `split_sentences`, with what belongs to a list. Each takes time linear in the text."""
    found: list[TextPiece] = []
    for paragraph in _PARAGRAPHS.split(text):
        lines = [line.strip() for line in paragraph.split("\n") if line.strip()]
        is_table = len(lines) > 1 and all("|" in line for line in lines)
        pieces = [TextPiece(row, is_item=True) for row in _table_rows(lines)] if is_table else _split_prose(lines)
        found += [TextPiece(part, piece.is_item) for piece in pieces for part in _split_long(piece.text)]
    return found


def _split_prose(block: Sequence[str]) -> Iterator[TextPiece]:
    """The sentences of a paragraph, whose lines are joined where one wraps.

    From the first line with a list marker on they belong to items.
    """
    lines: list[str] = []
    for line in block:
        if lines and line[:1].islower() and not lines[-1].endswith((".", "!", "?", ":", ";")):
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    is_item = False
    for wrapped in lines:
        is_item = is_item or bool(_LIST_MARKER.match(wrapped))
        line = " ".join(_LIST_MARKER.sub("", wrapped).split())
        start = 0
        for end in _END.finditer(line):
            if _is_sentence_end(line, end):
                yield TextPiece(line[start : end.end()].strip(), is_item)
                start = end.end()
        yield TextPiece(line[start:].strip(), is_item)


def _is_sentence_end(line: str, end: re.Match[str]) -> bool:
    following = _NEXT.match(line, end.end())
    first = following[2] if following else ""
    if first.islower() or not end[0].startswith("."):
        return not first.islower()
    before = line[max(0, end.start() - MAX_WORD_LENGTH) : end.start()]
    last = _WORD_BEFORE.search(before)
    word = last[0].lower() if last else ""
    is_initial = len(word) == 1 and word.isalpha()
    is_item_number = word.isdigit() and len(word) == end.start()
    is_abbreviation = word in _ABBREVIATIONS or (word in _NUMBER_ABBREVIATIONS and first.isdigit())
    is_dotted = bool(_INITIALS.fullmatch(word)) and word not in _NUMBER_ABBREVIATIONS and first.isupper()
    next_word = following[1].casefold() if following else ""
    is_person = word in _COUNTRIES and next_word in GIVEN_NAMES
    goes_on = is_dotted and next_word not in STOP_WORDS and not is_person
    return not (is_initial or is_item_number or is_abbreviation or goes_on)


def _split_long(sentence: str) -> Iterator[str]:
    """Split long text without a full stop between words; nothing of empty text."""
    while len(sentence) > MAX_SENTENCE_LENGTH:
        cut = sentence.rfind(" ", MAX_SENTENCE_LENGTH // 2, MAX_SENTENCE_LENGTH)
        cut = cut if cut > 0 else MAX_SENTENCE_LENGTH
        yield sentence[:cut].strip()
        sentence = sentence[cut:].strip()
    if sentence:
        yield sentence


def _table_rows(block: Sequence[str]) -> list[str]:
    """The rows below the header, each cell after its column's header."""
    head, *rows = ([" ".join(cell.split()) for cell in line.strip("|").split("|")] for line in block)
    return [
        "; ".join(
            f"{name}: {cell}" if name else cell
            for name, cell in zip([*head, *[""] * len(row)], row, strict=False)
            if cell
        )
        for row in rows
        if any(cell.strip("-: ") for cell in row)
    ]


def merge_lead_sentences(fragments: Sequence[str]) -> str:
    """The first sentences of all fragments, then the second ones, up to the limit, in the order of the fragments.

    Of sentences that differ only in case and whitespace the first is kept. The result has at least one sentence.
    """
    sentences = [split_sentences(fragment) for fragment in fragments]
    by_rank = sorted((rank, row) for row, texts in enumerate(sentences) for rank in range(len(texts)))
    kept: dict[str, tuple[int, int]] = {}
    length = 0
    for rank, row in by_rank:
        text = sentences[row][rank]
        if text.casefold() in kept:
            continue
        if kept and length + len(text) >= MAX_CHARACTERS:
            break
        kept[text.casefold()] = (row, rank)
        length += len(text) + 1
    return " ".join(sentences[row][rank] for row, rank in sorted(kept.values()))
