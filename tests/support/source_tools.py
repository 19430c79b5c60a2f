"""What connectors work with, and what tests want to know of a scan."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from bot.ingest.links.fetcher import PageFetcher
from bot.platform.document_source import DocumentSource, ScanEnd, SourceItem, SourceTools, WebReader
from engine import Clock
from engine.clock import SYSTEM_CLOCK

MAX_SIZE = 10_000


def build_tools(
    home: Path,
    *,
    web: WebReader | None = None,
    secret: str = "",
    is_local: bool = False,
    clock: Clock = SYSTEM_CLOCK,
) -> SourceTools:
    """Tools over a data directory below this folder."""
    data_dir = home / "data"
    reader = web or PageFetcher(clock)
    return SourceTools(clock, reader, home / "cache", data_dir, MAX_SIZE, SecretStr(secret), is_local)


async def scan(source: DocumentSource, cursor: str = "") -> tuple[dict[str, SourceItem], ScanEnd]:
    """The documents of a complete scan by id, and its end."""
    found = [scanned async for scanned in source.scan(cursor)]
    [end] = [scanned for scanned in found if isinstance(scanned, ScanEnd)]
    return {scanned.id: scanned for scanned in found if isinstance(scanned, SourceItem)}, end


async def read(source: DocumentSource, item: SourceItem, validator: str = "") -> bytes:
    """The content of a document that has changed."""
    fetched = await source.fetch(item, validator)
    assert fetched is not None
    return fetched.data
