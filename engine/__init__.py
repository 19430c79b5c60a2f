"""The engine: documents in, cited answers out. It has never heard of chat.

This is its public face; each name is loaded when it is first used, so that a command that needs little starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.asking import Answer
    from engine.engine import Engine
    from engine.errors import EngineError
    from engine.ledger.census import Listed, Status
    from engine.options import Options
    from engine.recalling import Neighbourhood
    from engine.records import (
        Context,
        Document,
        EntityRow,
        Link,
        Mention,
        Passage,
        Question,
        Reading,
        RelationRow,
        Scope,
        Source,
        Turn,
        Usage,
        Within,
    )
    from engine.verifying import Report

_HOMES = {
    "Answer": "engine.asking",
    "Context": "engine.records",
    "Document": "engine.records",
    "Engine": "engine.engine",
    "EngineError": "engine.errors",
    "EntityRow": "engine.records",
    "Link": "engine.records",
    "Listed": "engine.ledger.census",
    "Mention": "engine.records",
    "Neighbourhood": "engine.recalling",
    "Options": "engine.options",
    "Passage": "engine.records",
    "Question": "engine.records",
    "Reading": "engine.records",
    "RelationRow": "engine.records",
    "Report": "engine.verifying",
    "Scope": "engine.records",
    "Source": "engine.records",
    "Status": "engine.ledger.census",
    "Turn": "engine.records",
    "Usage": "engine.records",
    "Within": "engine.records",
}

__all__ = [
    "Answer",
    "Context",
    "Document",
    "Engine",
    "EngineError",
    "EntityRow",
    "Link",
    "Listed",
    "Mention",
    "Neighbourhood",
    "Options",
    "Passage",
    "Question",
    "Reading",
    "RelationRow",
    "Report",
    "Scope",
    "Source",
    "Status",
    "Turn",
    "Usage",
    "Within",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
