"""Where requests are worked on: an open engine and what it needs to take files in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.store.file_fingerprints import FileFingerprints
    from engine import Document, Engine, ParserLimits


@dataclass(frozen=True, slots=True)
class EngineContext:
    """`limits` bound what one file may take, `stamps` remember files, `count` counts o200k_base tokens.

    `forget` forgets a document, wherever something of it is kept, and says whether there was one. `replace` takes in
    a document that was known before, says whether it changed, and redacts the answers that used it if so.
    """

    engine: Engine
    parser_limits: ParserLimits
    fingerprints: FileFingerprints
    count_tokens: Callable[[str], int]
    forget_document: Callable[[str], Awaitable[bool]]
    replace_document: Callable[[Document], Awaitable[bool]]
