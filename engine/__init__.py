"""The engine: documents in, cited answers out. It has never heard of chat.

This is its public face; each name is loaded when it is first used, so that a command that needs little starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.answers.answer import Answer
    from engine.engine import Engine
    from engine.errors import EngineError
    from engine.models import (
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
        Within,
    )
    from engine.options import Options
    from engine.projection.verify import Report
    from engine.retrieval.retriever import Neighbourhood
    from engine.storage.ledger.queries.stats import Listed, Status
    from engine.usage import Usage

_HOMES = {
    "Answer": "engine.answers.answer",
    "Context": "engine.models",
    "Document": "engine.models",
    "Engine": "engine.engine",
    "EngineError": "engine.errors",
    "EntityRow": "engine.models",
    "Link": "engine.models",
    "Listed": "engine.storage.ledger.queries.stats",
    "Mention": "engine.models",
    "Neighbourhood": "engine.retrieval.retriever",
    "Options": "engine.options",
    "Passage": "engine.models",
    "Question": "engine.models",
    "Reading": "engine.models",
    "RelationRow": "engine.models",
    "Report": "engine.projection.verify",
    "Scope": "engine.models",
    "Source": "engine.models",
    "Status": "engine.storage.ledger.queries.stats",
    "Turn": "engine.models",
    "Usage": "engine.usage",
    "Within": "engine.models",
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
