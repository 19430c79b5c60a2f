"""Read fields of JSON that others wrote, whatever their types are, and keep what is rendered of it bounded. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Row = Mapping[str, Any]

MAX_DEPTH = 16  # levels of nested elements that are rendered
MAX_ITEMS = 2000  # elements of one list that are rendered
MAX_LENGTH = 40_000  # characters of one message
CUT_NOTICE = "[The rest of this message is not read: it is too long.]"


def get_text(row: Row, *keys: str) -> str:
    """The first of these fields that is a text or a number, and not empty; else ""."""
    for key in keys:
        value = row.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return ""


def get_row(row: Row, key: str) -> Row:
    """The object in a field; an empty one if the field has another type."""
    value = row.get(key)
    return value if isinstance(value, dict) else {}


def get_rows(row: Row, key: str) -> list[Row]:
    """The objects among the first MAX_ITEMS of the list in a field, to be rendered; nothing else of it."""
    return list_rows(row.get(key))


def list_rows(value: object) -> list[Row]:
    """The objects among the first MAX_ITEMS of a list, to be rendered; none of another value."""
    return [item for item in value[:MAX_ITEMS] if isinstance(item, dict)] if isinstance(value, list) else []


def iterate_rows(value: object) -> Iterator[Row]:
    """All objects of a list, however long it is, such as the messages of a chat; none of another value."""
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def join_lines(parts: Iterable[str]) -> str:
    """The parts that are not empty, each on lines of its own."""
    return "\n".join(part for part in parts if part.strip())


def cut_text(text: str) -> str:
    """A text of at most MAX_LENGTH characters, which says so if its end was cut off."""
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH].rstrip()}\n{CUT_NOTICE}"


def render_markdown_table(rows: Iterable[Iterable[str]]) -> str:
    """A table of cells, whose first row is its head, in Markdown; "" if no cell has text."""
    lines = [[" ".join(cell.split()) for cell in row] for row in rows]
    if not any(cell for line in lines for cell in line):
        return ""
    width = max(len(line) for line in lines)
    filled = [line + [""] * (width - len(line)) for line in lines]
    head, *body = [f"| {' | '.join(line)} |" for line in filled]
    return "\n".join([head, f"|{' --- |' * width}", *body])
