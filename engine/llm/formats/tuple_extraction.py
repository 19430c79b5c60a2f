"""Parse extraction replies in LightRAG's delimiter format: split rows, repair delimiters, build facts."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from engine.llm.formats.built_facts import build_link, build_mention
from engine.llm.formats.listed_extraction import parse_listed
from engine.llm.formats.row_repair import (
    LINK_FIELDS,
    MENTION_FIELDS,
    is_misread_entity,
    list_literal_rows,
    name_missing_type,
    rename_tags,
    repair_record,
    split_by_other_separator,
)
from engine.llm.formats.thinking import strip_thinking
from engine.models import Extraction, Link, Mention
from engine.text.names import normalize_name
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

DELIMITER = "<|#|>"
END_MARKER = "<|COMPLETE|>"

# Safe repairs: a "#" between brackets or pipes is hardly ever anything else. Repeats are bounded, since models get
# stuck on one character, and that must not cost quadratic time.
_WITH_CORE = compile_late(
    r"""<{1,3}\\?\|{0,4}[ ]?\\?\#(?:[|\\]{0,4}\#){0,4}[ ]?\\?\|{0,4}>{1,3}  # <#>  <|#>  <|##|>  <|\#|>  <<|#|>  <| # |>
      | <\|{1,4}\\?\#{1,4}[|:]{1,4}>?                # <|#|  <|#||  <|#:      the closing bracket is lost
      | \|{1,4}\\?\#{1,4}\|{1,4}>                    # |#|>                   the opening bracket is lost
      | \|\|\#\|\| | \|\#\|                           # ||#||  |#|             both are lost
    """,
    re.VERBOSE,
)
# Risky repairs: without the "#" it may be prose ("a <|> b", "x || y"), so text must touch it on both sides.
_WITHOUT_CORE = compile_late(r"(?<=\S)(?:<\|{0,4}>|<\|\||\|\|>?)(?=\S)")
# Other brackets and pipes of a delimiter, and a delimiter with another core or without its end.
_BAR = "[|｜│❘∣¦ǀ]"
_FOREIGN = compile_late(rf"<\|#\|>{{2,4}}|&lt;\s?\|\s?#\s?\|\s?&gt;|[<＜〈]\s?{_BAR}\s?[#＃]\s?{_BAR}\s?[>＞〉]")
_OTHER_CORES = compile_late(r"<\|([A-Z*$§@~-])\|>")
_UNCLOSED = compile_late(r"<\|#(?![|#>:])")
_DELIMITER_CHARS = frozenset("<|#")  # a damaged delimiter has at least one of them
ROW_NUMBER = compile_late(r"\D{0,3}(\d{1,4})\D{0,3}")  # the number field of a row in a shared call
END_PATTERN = compile_late(r"<\|?\s*complete\s*\|?>", re.IGNORECASE)
_TORN_ROW = compile_late(r"\n[ \t]{0,8}(?=<\|#\|>)")  # a line that begins with the delimiter continues the one before
_NEXT_ROW = compile_late(
    r"(?:<br ?/?>|;|##|(?<=[.!?。]),?)[ \t]{0,8}(?=(?:entity|relation(?:ship)?)<\|#\|>)", re.IGNORECASE
)
_SPACED_ROW = compile_late(r"[ \t]{1,8}(?=(?:entity|relation(?:ship)?)<\|#\|>)", re.IGNORECASE)
_ROW_END = "##"  # between rows of the former format of LightRAG
_ROW_JOINT = compile_late(r"\)[ \t]{0,8}##[ \t]{0,8}(?=\()")

Stated = TypeVar("Stated", bound=Mention | Link)

_TAG = compile_late(r"\A[\W\d_]*+(?:entity|relation(?:ship)?)[\W\d_]*+\Z", re.IGNORECASE)


def split_rows(reply: str) -> list[str]:
    """The lines of a reply, split at end markers too, without blank ones."""
    reply = rename_tags(_repair_delimiters(reply))
    reply = _NEXT_ROW.sub("\n", _TORN_ROW.sub("", _ROW_JOINT.sub(")\n", reply)))
    lines = (line.strip() for part in END_PATTERN.split(reply) for line in part.split("\n"))
    return [strip_parentheses(line) for line in lines if line]


def _repair_delimiters(reply: str) -> str:
    """The reply with delimiters that stand for the asked one in all of it; the most frequent other core is one."""
    reply = _UNCLOSED.sub(DELIMITER, _FOREIGN.sub(DELIMITER, reply))
    cores = Counter(found[1] for found in _OTHER_CORES.finditer(reply))
    if not cores or DELIMITER in reply:
        return reply
    core, count = cores.most_common(1)[0]
    return reply.replace(f"<|{core}|>", DELIMITER) if count >= MENTION_FIELDS - 1 else reply


def strip_parentheses(row: str) -> str:
    """The row without parentheses around all of it, and without the mark of its end in the former format."""
    row = row.removesuffix(_ROW_END).rstrip()
    return row[1:-1] if row.startswith("(") and row.endswith(")") else row


def field_candidates(row: str) -> list[list[str]]:
    """The fields of a row after safe repairs, and also after risky ones; the caller takes the better reading."""
    if _DELIMITER_CHARS.isdisjoint(row.replace(DELIMITER, "")):
        return [_split_fields(row)]
    sure = _WITH_CORE.sub(DELIMITER, row)
    daring = _WITHOUT_CORE.sub(DELIMITER, sure)
    return [_split_fields(sure), _split_fields(daring)] if daring != sure else [_split_fields(sure)]


def _split_fields(row: str) -> list[str]:
    fields = [field.strip() for field in row.split(DELIMITER)]
    while fields and not fields[-1]:
        fields.pop()
    return fields


def parse_tuples(reply: str) -> Extraction:
    """The mentions and links of a reply, in its order; invalid rows are dropped, none raises.

    A reply without any row is read as lists or labeled fields, which some models write instead.
    """
    text = _unwrap_rows(strip_thinking(reply))
    rows = [record for row in split_rows(text) for record in _parse_records(row)]
    literal_rows = list_literal_rows(text) if DELIMITER not in text else ()
    records = max([record for fields in literal_rows for record in _complete(_repair_records(fields))], rows, key=len)
    mentions = [build_mention(*record[1:]) for record in records if len(record) == MENTION_FIELDS]
    links = [build_link(*record[1:]) for record in records if len(record) == LINK_FIELDS]
    if not mentions and not links:
        return parse_listed(reply)
    return Extraction.of(mentions, links)


def _unwrap_rows(reply: str) -> str:
    """The rows of a reply that holds them in strings of JSON, else the reply."""
    text = reply.strip()
    if DELIMITER not in text or not text.startswith(('"', "[", "{")):
        return reply
    try:
        data, end = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return reply
    if DELIMITER in text[end:]:
        return reply
    values = data.values() if isinstance(data, dict) else data if isinstance(data, list) else (data,)
    return "\n".join(value for value in values if isinstance(value, str)) or reply


def merge_gleaning(first: Extraction, second: Extraction) -> Extraction:
    """Merge the first extraction with a second pass over the same text.

    New items of the second pass are added; of items in both, the one with the longer first description is kept.
    """
    return Extraction(
        _merge_by_key(first.mentions, second.mentions, lambda mention: normalize_name(mention.name)),
        _merge_by_key(
            first.links,
            second.links,
            lambda link: frozenset((normalize_name(link.source), normalize_name(link.target))),
        ),
    )


def _parse_records(row: str) -> list[list[str]]:
    """The records of a row; risky delimiter repairs are used only if they give more records.

    Only a row without any record of the right length is read as one with a field too few or too many.
    """
    readings = field_candidates(row)
    records = max((_split_records(fields) for fields in readings), key=len)
    if not records:
        readings = [*readings, split_by_other_separator(row)] if DELIMITER not in row else readings
        records = next(filter(None, (_repair_records(fields) for fields in readings)), [])
    if not records and len(parts := _SPACED_ROW.split(row)) > 1:
        return [record for part in parts for record in _parse_records(part)]
    return _complete(records)


def _complete(records: Iterable[list[str]]) -> list[list[str]]:
    """Records of the right length with a type where it was empty, and without a type where a name was expected."""
    return [repair_record(record) if is_misread_entity(record) else name_missing_type(record) for record in records]


def _repair_records(fields: Sequence[str]) -> list[list[str]]:
    """The records of fields between tags that have a field too few or too many."""
    if len(fields) < MENTION_FIELDS - 2:
        return []
    starts = [0, *(at for at in range(1, len(fields)) if _TAG.fullmatch(fields[at]))]
    parts = [fields[start:end] for start, end in zip(starts, [*starts[1:], len(fields)], strict=True)]
    return list(filter(None, map(repair_record, parts)))


def _split_records(fields: Sequence[str]) -> list[list[str]]:
    """Split fields into records of 4 or 5: a line may hold several records, joined by the delimiter alone.

    A record ends at the end of the line or before the tag of another one; so a name "relation" starts no record.
    Fields between records are repaired if their meaning is plain.
    """
    records, at = [], 0
    while at < len(fields):
        size = _record_size(fields, at)
        end = at + size if size else _find_next_tag(fields, at + 1)
        if size:
            records.append(list(fields[at:end]))
        elif records and (repaired := repair_record(fields[at:end])):
            records.append(repaired)
        at = end
    return records


def _record_size(fields: Sequence[str], at: int) -> int:
    """The number of fields of the record that starts here, 0 if none does."""
    for size in _allowed_sizes(fields[at], first=at == 0):
        end = at + size
        if end == len(fields) or (end < len(fields) and _TAG.fullmatch(fields[end])):
            return size
    return 0


def _allowed_sizes(tag: str, *, first: bool) -> tuple[int, ...]:
    """The allowed lengths of a record with this tag: an "entity" of 5 fields is a relation with the wrong tag."""
    word = tag.lower()
    if not first and not _TAG.fullmatch(tag):
        return ()
    if "entity" in word:
        return (MENTION_FIELDS, LINK_FIELDS)
    return (LINK_FIELDS,) if "relation" in word else ()


def _find_next_tag(fields: Sequence[str], at: int) -> int:
    return next((index for index in range(at, len(fields)) if _TAG.fullmatch(fields[index])), len(fields))


def _merge_by_key(
    first: Sequence[Stated], second: Sequence[Stated], key: Callable[[Stated], Hashable]
) -> tuple[Stated, ...]:
    first_lengths, second_lengths = _first_lengths(first, key), _first_lengths(second, key)
    better = {name for name, length in second_lengths.items() if length > first_lengths.get(name, -1)}
    kept = (stated for stated in first if key(stated) not in better)
    return (*kept, *(stated for stated in second if key(stated) in better))


def _first_lengths(items: Sequence[Stated], key: Callable[[Stated], Hashable]) -> dict[Hashable, int]:
    """The length of the first description under each key."""
    lengths: dict[Hashable, int] = {}
    for stated in items:
        lengths.setdefault(key(stated), len(stated.description))
    return lengths
