"""Repair rows of an extraction that have a field too few or too many, where their meaning is plain. Pure.

Nothing is invented: what a row says is moved to the field it belongs to, and an unclear row stays dropped.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from engine.llm.formats.broken_json import stands_alone
from engine.text.names import clean_text, clean_type
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Sequence

ENTITY_TYPES = (
    "Person",
    "Creature",
    "Organization",
    "Location",
    "Event",
    "Concept",
    "Method",
    "Content",
    "Data",
    "Artifact",
    "NaturalObject",
)
OTHER = "other"
MENTION_FIELDS = 4
LINK_FIELDS = 5
MAX_FIELDS = 9  # of a relation with several ends or keywords; a longer row is no row
MIN_SENTENCE_WORDS = 3
MAX_KEYWORD_WORDS = 3
MAX_ROW = 4_000  # characters of a row with commas
MIN_WIDE_CHARACTERS = 6  # of a sentence in a script without blanks

_TYPES = frozenset({*(name.lower() for name in ENTITY_TYPES), OTHER, "category", "geo", "group", "product", "role"})
# A tag and what follows it without an intact delimiter: "entity<Name", "entity>Name", "entity: Name", "entity Name".
_GLUED = compile_late(
    r"\A[\W\d_]{0,8}(entity|relation(?:ship)?)(?:[\W_]{0,7}[\s<>|#:\\=/–—-])(?=[^\W_])", re.IGNORECASE
)
_NUMBERED = compile_late(r"\A(entity|relation(?:ship)?)\s?\d{1,3}\s?[:.)]\s{0,3}(?=\S)", re.IGNORECASE)
_KIND = compile_late(r"entity|relation(?:ship)?", re.IGNORECASE)
_TYPED_NAME = compile_late(r"\A([^()]{1,256}?)\s*\(([^()]{1,40})\)\Z")  # "Name (Type)"
_ARROW_ENDS = compile_late(r"\A(.{1,120}?)\s*(?:-{1,2}>|[→⟶⇒])\s*(.{1,120})\Z")  # both ends in one field
_NUMBER = compile_late(r"\W{0,2}\d{1,3}(?:[.,]\d{1,3})?\W{0,2}")
_SENTENCE_END = compile_late(r"[.!?。！？…][\"'”’)]?\Z")
_WIDE = compile_late(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
# Tags of rows in other languages and forms.
_FOREIGN_TAGS = {
    word: tag
    for tag, words in {
        "entity": "entities entität entitäten entidad entidades entité entités entidade entità entiteit encja"
        " varlık сущность сутність エンティティ 实体 實體 엔티티 개체",
        "relation": "relations relationships beziehung beziehungen relación relaciones relação relações relazione"
        " relatie relacja ilişki связь отношение зв'язок 関係 关系 關係 관계",
    }.items()
    for word in words.split()
}
_FOREIGN_TAG = compile_late(
    rf"^([\W\d_]{{0,8}})({'|'.join(sorted(_FOREIGN_TAGS, key=len, reverse=True))})([*_`\"')\]]{{0,3}}\s{{0,4}}<\|#\|>)",
    re.IGNORECASE | re.MULTILINE,
)
_COMMAS = ";", ","
_SEPARATORS = ("|", "\t", "###", "##", "::", "<SEP>", "<tab>", "\\t", "｜", "~", "¦", "‖", "@@", ";", ",")
# Tuples and lists of Python or JSON, no calls and no indexes: ("entity", "Quay", "Location", "The quay is long.").
_LITERAL_TEXT = r"""(?:"(?:[^"\\\n]|\\.){0,2000}+"|'(?:[^'\\\n]|\\.){0,2000}+'|“[^”\n]{0,2000}+”)"""
_LITERAL_ROW = compile_late(
    rf"(?<![\w\])])[(\[]\s{{0,40}}({_LITERAL_TEXT}(?:\s{{0,40}},\s{{0,40}}{_LITERAL_TEXT}){{2,5}})\s{{0,40}},?\s{{0,40}}[)\]]"
)
_LITERAL_FIELD = compile_late(_LITERAL_TEXT)
_ESCAPED = compile_late(r"\\(.)")


def rename_tags(reply: str) -> str:
    """The reply with the tags of rows in English: some models write them in the language of the text."""
    return _FOREIGN_TAG.sub(lambda found: found[1] + _FOREIGN_TAGS[found[2].casefold()] + found[3], reply)


def split_glued_tag(field: str) -> list[str]:
    """The tag and the rest of a first field in which the delimiter between both is damaged; else the field alone."""
    glued = _GLUED.match(field)
    return [glued[1].lower(), field[glued.end() :].strip()] if glued else [field]


def list_literal_rows(reply: str) -> list[list[str]]:
    """The fields of rows that a reply has as tuples or lists of a program, not within a sentence."""
    rows, begin = list[list[str]](), 0
    for found in _LITERAL_ROW.finditer(reply):
        if stands_alone(reply, begin, found.start(), found.end()):
            begin = found.end()
            rows.append([_ESCAPED.sub(r"\1", field[1:-1]).strip() for field in _LITERAL_FIELD.findall(found[1])])
    return rows


def split_by_other_separator(row: str) -> list[str]:
    """The fields of a row, perhaps of a table, that has another separator everywhere; none if it is no such row."""
    for separator in _SEPARATORS:
        named = _NUMBERED.sub(lambda found: found[1] + separator, row.strip(f" {separator}"))  # noqa: B023 - called now
        fields = [field.strip() for field in _split(named, separator)]
        if len(fields) >= MENTION_FIELDS and _KIND.fullmatch(fields[0]):
            return fields if separator not in _COMMAS else _join_commas(fields, separator)
    return []


def _split(row: str, separator: str) -> list[str]:
    if separator not in _COMMAS:
        return row.split(separator)
    return split_quoted(row, separator)


def split_quoted(row: str, separator: str) -> list[str]:
    """The fields of a row; one between quotation marks may contain the separator. None of a row that is too long."""
    try:
        rows = csv.reader([row], delimiter=separator, skipinitialspace=True) if len(row) <= MAX_ROW else ()
        return next(iter(rows), [])
    except csv.Error:
        return []


def _join_commas(fields: list[str], separator: str) -> list[str]:
    """The fields of a row that commas separate, which may be in its description too; none if that is not plain."""
    size = MENTION_FIELDS if fields[0].casefold() == "entity" else LINK_FIELDS
    if len(fields) < size or (size == MENTION_FIELDS and not is_type(fields[2])):
        return []
    head, description = fields[: size - 1], f"{separator} ".join(fields[size - 1 :])
    names_ends = all(end.casefold() in description.casefold() for end in head[1:3])
    if size == LINK_FIELDS and not (names_ends and (len(fields) == size or len(head[3].split()) <= MAX_KEYWORD_WORDS)):
        return []
    return [*head, description]


def repair_record(fields: Sequence[str]) -> list[str]:
    """The record that these fields mean, with 4 or 5 fields; an empty list if that is not plain."""
    if not fields or len(fields) > MAX_FIELDS:
        return []
    fields = [*split_glued_tag(fields[0]), *fields[1:]]
    tag = fields[0].lower()
    if "relation" in tag and len(fields) > 1:
        return _repair_relation(fields)
    return _repair_entity(fields) if "entity" in tag else _add_tag(fields)


def is_misread_entity(record: Sequence[str]) -> bool:
    """Whether a row of five fields, tagged as an entity, is one: its second field is no name but a type."""
    return "entity" in record[0].lower() and len(record) == LINK_FIELDS and is_type(record[2])


def name_missing_type(record: list[str]) -> list[str]:
    """The record, with a type if it is an entity whose type is empty."""
    is_untyped = len(record) == MENTION_FIELDS and "entity" in record[0].lower() and not record[2]
    return [*record[:2], OTHER, record[3]] if is_untyped else record


def is_type(field: str) -> bool:
    """Whether a field is a known type of entities."""
    return clean_type(field) in _TYPES


def _repair_entity(fields: Sequence[str]) -> list[str]:
    """An entity without its type, or with a doubled field."""
    tag, *rest = fields
    if rest and _NUMBER.fullmatch(rest[-1]) and len(rest) >= MENTION_FIELDS:
        rest = rest[:-1]
    match rest:
        case [name, kind, description] if is_type(kind) or not is_type(description):
            return [tag, name, kind, description]
        case [name, description] if _is_sentence(description, (name,)):
            typed = _TYPED_NAME.match(name)
            return (
                [tag, typed[1], typed[2], description]
                if typed and is_type(typed[2])
                else [tag, name, OTHER, description]
            )
        case [name, kind, first, second] if is_type(kind):
            return [tag, name, kind, second if is_type(first) or first == second else f"{first} {second}"]
        case [name, other, kind, description] if is_type(kind) and clean_text(other) == clean_text(name):
            return [tag, name, kind, description]
    return []


def _repair_relation(fields: Sequence[str]) -> list[str]:
    """A relation without its keywords, with several, with several ends, or with a weight."""
    tag, *rest = fields
    if len(rest) < MENTION_FIELDS and (both := _ARROW_ENDS.match(rest[0])):
        rest = [both[1], both[2], *rest[1:]]
    has_weight = len(rest) >= MENTION_FIELDS and _NUMBER.fullmatch(rest[-1]) is not None
    rest = rest[:-1] if has_weight else rest
    if len(rest) < MENTION_FIELDS - 1:
        return []
    source, target, *middle, last = rest
    if not middle and _is_keyword(target, last):
        return []
    ends = source, target
    if len(rest) == MENTION_FIELDS and not has_weight:
        return _order_relation(tag, ends, middle[0], last)
    if middle and _is_sentence(middle[0], ends) and not _is_sentence(last, ends):
        middle, last = [*middle[1:], last], middle[0]
    return [tag, *ends, ",".join(dict.fromkeys(middle)), last] if _is_sentence(last, ends) else []


def _is_keyword(target: str, description: str) -> bool:
    """Whether the second end of a relation is rather its keywords: in lower case, and not in the description."""
    return target[:1].islower() and clean_text(target).casefold() not in description.casefold()


def _order_relation(tag: str, ends: tuple[str, str], third: str, fourth: str) -> list[str]:
    """Keywords and description in their order; in the former format of the rows the description came first."""
    is_swapped = _is_sentence(third, ends) and not _is_sentence(fourth, ends)
    return [tag, *ends, fourth, third] if is_swapped else [tag, *ends, third, fourth]


def _add_tag(fields: Sequence[str]) -> list[str]:
    """A row without its tag: an entity if its second field is a type, a relation if its last one names both ends."""
    if len(fields) == MENTION_FIELDS - 1 and is_type(fields[1]) and _is_sentence(fields[2], (fields[0],)):
        return ["entity", *fields]
    if len(fields) == LINK_FIELDS - 1 and not is_type(fields[1]):
        last = fields[-1].casefold()
        if all(end and end.casefold() in last for end in fields[:2]):
            return ["relation", *fields]
    return []


def _is_sentence(field: str, ends: Sequence[str]) -> bool:
    """Whether a field is a description: a sentence about the ends, not a type, keywords or a number."""
    text = clean_text(field)
    if not text or is_type(text) or _NUMBER.fullmatch(text):
        return False
    if len(_WIDE.findall(text)) >= MIN_WIDE_CHARACTERS or _SENTENCE_END.search(text):
        return True
    names_an_end = any(end and clean_text(end).casefold() in text.casefold() for end in ends)
    words = len(text.split())
    is_list = "," in text and words < 2 * (text.count(",") + 1) + 1  # "trade, supply chain"
    return not is_list and (words >= MIN_SENTENCE_WORDS or (names_an_end and words > 1))
