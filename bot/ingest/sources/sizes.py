"""How much a source holds, by reading a few of its documents."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import SourceUnavailable
from bot.ingest.sources.sync import scan_source
from engine.errors import EngineError, InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.platform.document_source import DocumentSource, SourceItem
    from engine import FileParser

SAMPLE, SAMPLE_SECONDS = 8, 20.0


@dataclass(frozen=True, slots=True)
class SourceSize:
    """How many documents a source has that may be read, and about how many tokens of text.

    `tokens`: None if none of a sample could be read. `is_whole`: all of them were counted.
    """

    documents: int
    tokens: int | None = 0
    is_whole: bool = True


async def measure_source(
    source: DocumentSource, parser: FileParser | None, count_tokens: Callable[[str], int]
) -> SourceSize:
    """Count the documents, and the tokens of a sample; without a parser no tokens. Raises SourceUnavailable."""
    found = [item for item in (await scan_source(source, "")).items.values() if not item.withheld]
    if parser is None or not found:
        return SourceSize(len(found))
    sample, tokens = found[:: -(-len(found) // SAMPLE)], list[int]()
    with suppress(TimeoutError):
        async with asyncio.timeout(SAMPLE_SECONDS):
            for item in sample:
                if (count := await _count(source, item, parser, count_tokens)) is not None:
                    tokens.append(count)
    if not tokens:
        return SourceSize(len(found), None, is_whole=False)
    return SourceSize(len(found), round(sum(tokens) / len(tokens) * len(found)), len(tokens) == len(found))


async def _count(
    source: DocumentSource, item: SourceItem, parser: FileParser, count_tokens: Callable[[str], int]
) -> int | None:
    """The tokens of a document; None if nothing of it can be read. Raises SourceUnavailable."""
    total = 0
    try:
        fetched = await source.fetch(item, "")
        if fetched is None:
            return None
        async with aclosing(parser.stream(fetched.name, fetched.data)) as parts:
            async for parsed in parts:
                total += sum(count_tokens(passage.text) for passage in parsed.passages)
    except SourceUnavailable:
        raise
    except InvalidDocument:
        return total  # it takes nothing to read what cannot be read
    except (EngineError, OSError):
        return total or None
    return total
