"""The delimiter of extraction rows, and the ways in which models damage it."""

from __future__ import annotations

import re

DELIMITER = "<|#|>"
END_MARK = "<|COMPLETE|>"

# Damage that leaves the core "#" standing between brackets or pipes can hardly be anything else. Repeats are bounded:
# models do get stuck on one character, and that must not cost quadratic time.
_WITH_CORE = re.compile(
    r"""<\|{0,4}\\?\#(?:[|\\]{0,4}\#){0,4}\|{0,4}>   # <#>  <|#>  <#|>  <|##|>  <|\#|>  <||#||>  <|#||#|>
      | <\|{1,4}\\?\#{1,4}[|:]{1,4}>?                # <|#|  <|#||  <|#:      the closing bracket is lost
      | \|{1,4}\\?\#{1,4}\|{1,4}>                    # |#|>                   the opening bracket is lost
      | \|\|\#\|\|                                   # ||#||                  both are lost
    """,
    re.VERBOSE,
)
# Without the core it may be prose ("a <|> b", "x || y"): only where it is glued to text on both sides.
_WITHOUT_CORE = re.compile(r"(?<=\S)(?:<\|{0,4}>|<\|\||\|\|>?)(?=\S)")
_SIGNS = frozenset("<|#")  # a damaged delimiter has at least one of them
END = re.compile(r"<\|?\s*complete\s*\|?>", re.IGNORECASE)


def rows(reply: str) -> list[str]:
    """The lines of a reply, parted at end marks too; blank ones left out."""
    lines = (line.strip() for part in END.split(reply) for line in part.split("\n"))
    return [line[1:-1] if line.startswith("(") and line.endswith(")") else line for line in lines if line]


def readings(row: str) -> list[list[str]]:
    """The fields of a row, with sure repairs only, and with daring ones too: the caller takes what makes sense."""
    if _SIGNS.isdisjoint(row.replace(DELIMITER, "")):
        return [_fields(row)]
    sure = _WITH_CORE.sub(DELIMITER, row)
    daring = _WITHOUT_CORE.sub(DELIMITER, sure)
    return [_fields(sure), _fields(daring)] if daring != sure else [_fields(sure)]


def _fields(row: str) -> list[str]:
    fields = [field.strip() for field in row.split(DELIMITER)]
    while fields and not fields[-1]:
        fields.pop()
    return fields
