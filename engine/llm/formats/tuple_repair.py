"""Split extraction rows into fields, and repair damaged delimiters."""

from __future__ import annotations

import re

DELIMITER = "<|#|>"
END_MARKER = "<|COMPLETE|>"

# Safe repairs: a "#" between brackets or pipes is hardly ever anything else. Repeats are bounded, since models get
# stuck on one character, and that must not cost quadratic time.
_WITH_CORE = re.compile(
    r"""<\|{0,4}\\?\#(?:[|\\]{0,4}\#){0,4}\|{0,4}>   # <#>  <|#>  <#|>  <|##|>  <|\#|>  <||#||>  <|#||#|>
      | <\|{1,4}\\?\#{1,4}[|:]{1,4}>?                # <|#|  <|#||  <|#:      the closing bracket is lost
      | \|{1,4}\\?\#{1,4}\|{1,4}>                    # |#|>                   the opening bracket is lost
      | \|\|\#\|\|                                   # ||#||                  both are lost
    """,
    re.VERBOSE,
)
# Risky repairs: without the "#" it may be prose ("a <|> b", "x || y"), so text must touch it on both sides.
_WITHOUT_CORE = re.compile(r"(?<=\S)(?:<\|{0,4}>|<\|\||\|\|>?)(?=\S)")
_DELIMITER_CHARS = frozenset("<|#")  # a damaged delimiter has at least one of them
ROW_NUMBER = re.compile(r"\D{0,3}(\d{1,4})\D{0,3}")  # the number field of a row in a shared call
END_PATTERN = re.compile(r"<\|?\s*complete\s*\|?>", re.IGNORECASE)


def split_rows(reply: str) -> list[str]:
    """The lines of a reply, split at end markers too, without blank ones."""
    lines = (line.strip() for part in END_PATTERN.split(reply) for line in part.split("\n"))
    return [strip_parentheses(line) for line in lines if line]


def strip_parentheses(row: str) -> str:
    """The row without parentheses around all of it."""
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
