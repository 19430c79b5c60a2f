"""The engine: documents in, cited answers out. It knows nothing of chat platforms.

These names are for programs that use it as a library; docs/library.md shows each. Errors are in `engine.errors`. Each
name is imported on first use, so that a command which needs little starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.answers.answer import Answer as Answer
    from engine.clock import Clock as Clock
    from engine.engine import Engine as Engine
    from engine.errors import EngineError as EngineError
    from engine.knowledge.duplicates.report import DuplicateReport as DuplicateReport
    from engine.knowledge.manual_facts import build_fact as build_fact
    from engine.llm.base import Embedder as Embedder
    from engine.llm.base import LanguageModel as LanguageModel
    from engine.llm.base import QueryEmbedder as QueryEmbedder
    from engine.llm.base import Reranker as Reranker
    from engine.llm.client.client import ModelClient as ModelClient
    from engine.llm.config import ModelConfig as ModelConfig
    from engine.llm.default_models import open_language_model as open_language_model
    from engine.llm.default_models import open_picture_describer as open_picture_describer
    from engine.llm.embedder import LiteLLMEmbedder as LiteLLMEmbedder
    from engine.llm.minilm.embedder import MiniLMEmbedder as MiniLMEmbedder
    from engine.llm.offline.model import OfflineModel as OfflineModel
    from engine.llm.remote_model import LLMConfig as LLMConfig
    from engine.llm.reranker import LiteLLMReranker as LiteLLMReranker
    from engine.models import ChatTurn as ChatTurn
    from engine.models import Context as Context
    from engine.models import ContextEntity as ContextEntity
    from engine.models import ContextRelation as ContextRelation
    from engine.models import Document as Document
    from engine.models import Excerpt as Excerpt
    from engine.models import Extraction as Extraction
    from engine.models import Filters as Filters
    from engine.models import Link as Link
    from engine.models import LLMMessage as LLMMessage
    from engine.models import Mention as Mention
    from engine.models import Passage as Passage
    from engine.models import Prompt as Prompt
    from engine.models import Question as Question
    from engine.models import RetrievalMode as RetrievalMode
    from engine.models import Scope as Scope
    from engine.models import Source as Source
    from engine.options import ChunkingOptions as ChunkingOptions
    from engine.options import EngineOptions as EngineOptions
    from engine.options import RankingOptions as RankingOptions
    from engine.parsers.base import ParserLimits as ParserLimits
    from engine.parsers.base import PictureDescriber as PictureDescriber
    from engine.parsers.sandbox.pool import FileParser as FileParser
    from engine.projection.open_stores import Stores as Stores
    from engine.projection.verify import VerificationReport as VerificationReport
    from engine.retrieval.graph.records import EntitySummary as EntitySummary
    from engine.retrieval.graph.records import FactProvenance as FactProvenance
    from engine.retrieval.graph.records import Subgraph as Subgraph
    from engine.retrieval.graph.records import SubgraphQuery as SubgraphQuery
    from engine.retrieval.retriever import Neighborhood as Neighborhood
    from engine.storage.graph.base import GraphStore as GraphStore
    from engine.storage.ledger.records import CorrectionChange as CorrectionChange
    from engine.storage.ledger.records import DocumentInfo as DocumentInfo
    from engine.storage.ledger.records import DocumentStatus as DocumentStatus
    from engine.storage.ledger.records import IndexProblem as IndexProblem
    from engine.storage.ledger.records import IndexStatus as IndexStatus
    from engine.storage.ledger.records import ManualCorrection as ManualCorrection
    from engine.storage.vectors.base import VectorStore as VectorStore
    from engine.text.tokenizer import O200kTokenizer as O200kTokenizer
    from engine.usage import Usage as Usage
    from engine.usage import UsageMeter as UsageMeter

_EXPORTS: dict[str, tuple[str, ...]] = {
    "engine.answers.answer": ("Answer",),
    "engine.clock": ("Clock",),
    "engine.engine": ("Engine",),
    "engine.errors": ("EngineError",),
    "engine.knowledge.duplicates.report": ("DuplicateReport",),
    "engine.knowledge.manual_facts": ("build_fact",),
    "engine.llm.base": ("Embedder", "LanguageModel", "QueryEmbedder", "Reranker"),
    "engine.llm.client.client": ("ModelClient",),
    "engine.llm.config": ("ModelConfig",),
    "engine.llm.default_models": ("open_language_model", "open_picture_describer"),
    "engine.llm.embedder": ("LiteLLMEmbedder",),
    "engine.llm.minilm.embedder": ("MiniLMEmbedder",),
    "engine.llm.offline.model": ("OfflineModel",),
    "engine.llm.remote_model": ("LLMConfig",),
    "engine.llm.reranker": ("LiteLLMReranker",),
    "engine.models": (
        "ChatTurn",
        "Context",
        "ContextEntity",
        "ContextRelation",
        "Document",
        "Excerpt",
        "Extraction",
        "Filters",
        "LLMMessage",
        "Link",
        "Mention",
        "Passage",
        "Prompt",
        "Question",
        "RetrievalMode",
        "Scope",
        "Source",
    ),
    "engine.options": ("ChunkingOptions", "EngineOptions", "RankingOptions"),
    "engine.parsers.base": ("ParserLimits", "PictureDescriber"),
    "engine.parsers.sandbox.pool": ("FileParser",),
    "engine.projection.open_stores": ("Stores",),
    "engine.projection.verify": ("VerificationReport",),
    "engine.retrieval.graph.records": ("EntitySummary", "FactProvenance", "Subgraph", "SubgraphQuery"),
    "engine.retrieval.retriever": ("Neighborhood",),
    "engine.storage.graph.base": ("GraphStore",),
    "engine.storage.ledger.records": (
        "CorrectionChange",
        "DocumentInfo",
        "DocumentStatus",
        "IndexProblem",
        "IndexStatus",
        "ManualCorrection",
    ),
    "engine.storage.vectors.base": ("VectorStore",),
    "engine.text.tokenizer": ("O200kTokenizer",),
    "engine.usage": ("Usage", "UsageMeter"),
}
_MODULES = {name: module for module, names in _EXPORTS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(_MODULES)
