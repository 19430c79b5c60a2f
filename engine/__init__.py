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
        ChatTurn,
        Context,
        ContextEntity,
        ContextRelation,
        Document,
        Extraction,
        Filters,
        Link,
        Mention,
        Passage,
        Question,
        Scope,
        Source,
    )
    from engine.options import EngineOptions
    from engine.projection.verify import VerificationReport
    from engine.retrieval.retriever import Neighbourhood
    from engine.storage.ledger.queries.stats import DocumentInfo, IndexStatus
    from engine.usage import Usage

_MODULES = {
    "Answer": "engine.answers.answer",
    "Context": "engine.models",
    "Document": "engine.models",
    "Engine": "engine.engine",
    "EngineError": "engine.errors",
    "ContextEntity": "engine.models",
    "Link": "engine.models",
    "DocumentInfo": "engine.storage.ledger.queries.stats",
    "Mention": "engine.models",
    "Neighbourhood": "engine.retrieval.retriever",
    "EngineOptions": "engine.options",
    "Passage": "engine.models",
    "Question": "engine.models",
    "Extraction": "engine.models",
    "ContextRelation": "engine.models",
    "VerificationReport": "engine.projection.verify",
    "Scope": "engine.models",
    "Source": "engine.models",
    "IndexStatus": "engine.storage.ledger.queries.stats",
    "ChatTurn": "engine.models",
    "Usage": "engine.usage",
    "Filters": "engine.models",
}

__all__ = [
    "Answer",
    "ChatTurn",
    "Context",
    "ContextEntity",
    "ContextRelation",
    "Document",
    "DocumentInfo",
    "Engine",
    "EngineError",
    "EngineOptions",
    "Extraction",
    "Filters",
    "IndexStatus",
    "Link",
    "Mention",
    "Neighbourhood",
    "Passage",
    "Question",
    "Scope",
    "Source",
    "Usage",
    "VerificationReport",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
