"""The blocks of a page as Markdown. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MARKS = {
    "heading_1": "# ",
    "heading_2": "## ",
    "heading_3": "### ",
    "bulleted_list_item": "- ",
    "numbered_list_item": "1. ",
    "quote": "> ",
    "to_do": "- ",
}
NESTED = frozenset({"bulleted_list_item", "numbered_list_item", "to_do"})
SILENT = frozenset({"divider", "table_of_contents", "breadcrumb", "column_list", "column", "child_page", "table"})


@dataclass(slots=True)
class Rendering:
    """Lines of Markdown, and how many blocks of each type have no text."""

    lines: list[str] = field(default_factory=list)
    unread: dict[str, int] = field(default_factory=dict)

    def add(self, block: Mapping[str, Any], depth: int) -> None:
        """Add a block; `depth`: of lists that it is in."""
        kind = str(block.get("type", ""))
        content = block.get(kind)
        details: Mapping[str, Any] = content if isinstance(content, dict) else {}
        text = join_text(details.get("rich_text", ()))
        if kind == "code":
            self.lines += [f"```{details.get('language', '')}", text, "```", ""]
        elif kind == "table_row":
            self.lines.append(" | ".join(join_text(cell) for cell in details.get("cells", ())))
        elif text:
            ending = [] if kind in NESTED else [""]
            self.lines += [f"{'    ' * depth}{MARKS.get(kind, '')}{text}", *ending]
        elif kind not in SILENT and "rich_text" not in details:
            self.unread[kind] = self.unread.get(kind, 0) + 1

    def list_omissions(self) -> tuple[tuple[str, str], ...]:
        """What has no text, each as a part and the reason."""
        reason = "the connector reads no blocks of this type"
        return tuple((f"{count} × {kind}", reason) for kind, count in sorted(self.unread.items()))


def join_text(parts: Iterable[Mapping[str, Any]]) -> str:
    """The plain text of rich text."""
    return "".join(str(each.get("plain_text", "")) for each in parts)


def find_title(page: Mapping[str, Any]) -> str:
    """The title of a page: its only property of this type."""
    properties = page.get("properties", {})
    titles = (each.get("title", ()) for each in properties.values() if each.get("type") == "title")
    return join_text(next(titles, ())).strip()
