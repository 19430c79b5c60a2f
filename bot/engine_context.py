"""Shared dependencies of operations on the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.store.file_fingerprints import FileFingerprints
    from engine import Document, Engine, ParserLimits


@dataclass(frozen=True, slots=True)
class EngineContext:
    """The engine, and what ingestion needs.

    `count_tokens` counts o200k_base tokens. `forget_document` deletes a document everywhere and returns whether it
    existed. `replace_document` ingests a new version, returns whether it changed, and redacts answers that used it.
    """

    engine: Engine
    parser_limits: ParserLimits
    fingerprints: FileFingerprints
    count_tokens: Callable[[str], int]
    forget_document: Callable[[str], Awaitable[bool]]
    replace_document: Callable[[Document], Awaitable[bool]]
