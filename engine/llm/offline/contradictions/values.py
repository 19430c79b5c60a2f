"""Decide which values exclude each other. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from engine.llm.offline.supersession.values import Value

_NO_DIGIT, _DIGITS = re.compile(r"\D"), re.compile(r"\d+")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,' ]\d{3})+")
_CURRENCY = re.compile(
    r"(?P<euro>€|euros?\b|eur\b)|(?P<dollar>\$|dollars?\b|usd\b)|(?P<pound>£|pounds?\b)|(?P<yen>¥|円)|[^\W\d]+",
    re.IGNORECASE,
)


class Slot(NamedTuple):
    """A value: its kind, its form in which equal values are equal, and its unit or currency."""

    kind: str
    form: str
    unit: str = ""


def name_slot(kind: str, words: str) -> Slot:
    """A name as a value."""
    return Slot(kind, words.strip("`*_@").rstrip(".").casefold())


def value_slot(value: Value, text: str) -> Slot:
    """A value of a text; numbers without separators of thousands."""
    raw = text[value.start : value.stop]
    if value.kind == "money":
        found = _CURRENCY.search(raw)
        currency = (found.lastgroup or found[0].casefold()) if found else ""
        return Slot(
            "money", _to_number("".join(char for char in raw if char.isdigit() or char in ".,").strip(".,")), currency
        )
    if value.kind == "number":
        return Slot(
            "number", _to_number(value.form.strip().rstrip("% ")) if "–" not in value.form else value.form, value.unit
        )
    return Slot(value.kind, value.form.strip(), value.unit)


def exclude_each_other(one: Slot, other: Slot) -> bool:
    """Whether a thing that has one value cannot have the other; False if one is only less exact."""
    if (one.kind, one.unit) != (other.kind, other.unit) or one.form == other.form or "–" in f"{one.form}{other.form}":
        return False
    match one.kind:
        case "date":
            return _are_days_apart(one.form, other.form)
        case "time":
            return _on_dial(one.form) != _on_dial(other.form)
        case "holder" | "name" | "place":
            return _are_other_names(one.form, other.form)
    return not _is_less_exact(one.form, other.form)


def _to_number(form: str) -> str:
    if _THOUSANDS.fullmatch(form):
        return _NO_DIGIT.sub("", form)
    number = form.replace(",", ".")
    return number.rstrip("0").rstrip(".") if number.count(".") == 1 else number


def _are_days_apart(one: str, other: str) -> bool:
    """Whether two dates are as exact as each other."""
    shapes = [_DIGITS.sub("0", form) for form in (one, other)]
    return shapes[0] == shapes[1]


def _on_dial(form: str) -> tuple[int, str]:
    """Hour and minute on a dial of twelve hours: "2" may mean the afternoon."""
    hour, _, minute = form.partition(":")
    return (int(hour) % 12 if hour.isdigit() else -1), minute


def _are_other_names(one: str, other: str) -> bool:
    """Whether no name is a part or a short form of the other."""
    first, second = one.replace(".", ""), other.replace(".", "")
    if set(first.split()) & set(second.split()):
        return False
    return not any(one.startswith(other) or one.endswith(other) for one, other in ((first, second), (second, first)))


def _is_less_exact(one: str, other: str) -> bool:
    """Whether one version or number is the beginning of the other: 3.11 and 3.11.4."""
    first, second = one.split("."), other.split(".")
    length = min(len(first), len(second))
    return len(first) != len(second) and first[:length] == second[:length]
