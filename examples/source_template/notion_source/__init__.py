"""Pages of Notion as a source: list them, and read each as Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from bot.errors import BadSetting
from bot.platform.document_source import SECRET_OPTIONS, FetchedItem, ScanEnd, SourceItem, SourceKind
from notion_source.blocks import NESTED, Rendering, find_title
from notion_source.client import NotionClient

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from bot.platform.document_source import Scanned, SourceTools
    from engine import Clock

API, API_ADDRESS = "api", "https://api.notion.com"  # an option, and its default
MAX_DEPTH = 8  # of blocks within blocks
SETTLED_AFTER = timedelta(minutes=2)  # times are whole minutes: a page may change again within the same one


@dataclass(frozen=True, slots=True)
class NotionSource:
    """The pages that were shared with an integration. One request at a time keeps below the limit of requests."""

    client: NotionClient
    clock: Clock
    at_once: int = 1
    _pages: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    async def scan(self, cursor: str) -> AsyncGenerator[Scanned]:  # noqa: ARG002 - all pages are listed
        """Yield all pages but those in the trash. Raises SourceUnavailable."""
        async for page in self.client.list_pages():
            if page.get("archived") or page.get("in_trash"):
                continue
            self._pages[page["id"]] = page
            yield SourceItem(page["id"], self._find_stamp(page), find_title(page))
        yield ScanEnd()

    async def fetch(self, item: SourceItem, validator: str) -> FetchedItem | None:  # noqa: ARG002 - it has none
        """A page as Markdown. Raises ItemGone, ItemNotRead and SourceUnavailable."""
        rendering = Rendering()
        await self._render(item.id, rendering, 0, 0)
        page = self._pages.get(item.id, {})
        title = find_title(page) or item.name
        edited = page.get("last_edited_time")
        return FetchedItem(
            "page.md",
            "\n".join([f"# {title}", "", *rendering.lines]).encode(),
            title=title,
            link=str(page.get("url", "")),
            time=datetime.fromisoformat(edited) if edited else None,
            omissions=rendering.list_omissions(),
        )

    async def close(self) -> None:
        """End the connections."""
        await self.client.close()

    def _find_stamp(self, page: Mapping[str, Any]) -> str:
        edited = str(page.get("last_edited_time", ""))
        try:
            is_settled = self.clock.now() - datetime.fromisoformat(edited) > SETTLED_AFTER
        except (ValueError, TypeError):
            return ""
        return edited if is_settled else ""

    async def _render(self, parent: str, rendering: Rendering, depth: int, level: int) -> None:
        """Add the blocks below a page or a block, but not those of pages within it, which are pages of their own."""
        async for block in self.client.list_blocks(parent):
            rendering.add(block, depth)
            if block.get("has_children") and block.get("type") != "child_page" and level < MAX_DEPTH:
                await self._render(block["id"], rendering, depth + (block.get("type") in NESTED), level + 1)


def open_notion(address: str, options: Mapping[str, str], tools: SourceTools) -> NotionSource:
    """The pages of a workspace. Raises BadSetting."""
    if not tools.secret.get_secret_value():
        raise BadSetting(f"{address} needs the secret of an integration.", hint="--option secret-file=PATH")
    return NotionSource(NotionClient(options.get(API, API_ADDRESS), tools.secret), tools.clock)


NOTION = SourceKind(
    "a workspace of Notion",
    open_notion,
    lambda address: address.startswith("notion:"),
    noun="page",
    every=1800.0,
    options=frozenset({API}) | SECRET_OPTIONS,
    forms=("notion:NAME",),
)
