"""Write the table of capabilities into docs/capabilities.md: `python -m scripts.capabilities`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bot.capabilities.row import Surface
from bot.capabilities.table import ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.capabilities.row import Capability

PAPER = Path(__file__).parent.parent / "docs" / "capabilities.md"
BEGIN, END = "<!-- the table begins -->", "<!-- the table ends -->"
DOORS = {
    "chat": Surface.CHAT,
    "command line": Surface.CLI,
    "HTTP": Surface.HTTP,
    "MCP": Surface.MCP,
    "page": Surface.PAGE,
}


def render_table() -> Iterable[str]:
    """The lines of the table."""
    yield "| capability | where | who | a token needs | what differs on purpose, and why |"
    yield "|---|---|---|---|---|"
    for row in ROWS:
        yield _render_row(row)


def _render_row(row: Capability) -> str:
    doors = ", ".join(name for name, surface in DOORS.items() if surface in row.surfaces)
    permission = f"`{row.permission}`" if row.permission else "–"
    return f"| {row.name} | {doors} | {row.who.value} | {permission} | {row.kept or '–'} |"


def render_paper(text: str) -> str:
    """The paper with the table of today."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return "\n".join([f"{head}{BEGIN}", *render_table(), f"{END}{tail}"])


def main() -> None:
    """Rewrite the paper."""
    PAPER.write_text(render_paper(PAPER.read_text()))


if __name__ == "__main__":
    main()
