"""The engine: documents in, cited answers out. It knows nothing of chat platforms.

This is its only door: everything that programs need is exported here, and errors by `engine.errors`. Each name is
imported on first use, so that a command which needs little starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.answers.answer import Answer as Answer
    from engine.answers.links.stream import LinkFilter as LinkFilter
    from engine.answers.mentions import find_mentions as find_mentions
    from engine.boundary import MAX_QUESTION_CHARACTERS as MAX_QUESTION_CHARACTERS
    from engine.boundary import normalize_value as normalize_value
    from engine.boundary import repair_surrogates as repair_surrogates
    from engine.clock import SYSTEM_CLOCK as SYSTEM_CLOCK
    from engine.clock import Clock as Clock
    from engine.data_dir import DataDir as DataDir
    from engine.engine import Engine as Engine
    from engine.errors import EngineError as EngineError
    from engine.knowledge.duplicates.report import Duplicate as Duplicate
    from engine.knowledge.duplicates.report import DuplicateReport as DuplicateReport
    from engine.knowledge.manual_facts import build_fact as build_fact
    from engine.llm.base import Embedder as Embedder
    from engine.llm.base import LanguageModel as LanguageModel
    from engine.llm.base import QueryEmbedder as QueryEmbedder
    from engine.llm.base import Reranker as Reranker
    from engine.llm.checked_embedder import wrap_embedder as wrap_embedder
    from engine.llm.client.client import ModelClient as ModelClient
    from engine.llm.client.subprocess import SubprocessProvider as SubprocessProvider
    from engine.llm.config import OLLAMA_PROVIDERS as OLLAMA_PROVIDERS
    from engine.llm.config import CallTimeouts as CallTimeouts
    from engine.llm.config import ModelConfig as ModelConfig
    from engine.llm.default_models import open_language_model as open_language_model
    from engine.llm.default_models import open_picture_describer as open_picture_describer
    from engine.llm.embedder import LiteLLMEmbedder as LiteLLMEmbedder
    from engine.llm.minilm.embedder import MiniLMEmbedder as MiniLMEmbedder
    from engine.llm.minilm.embedder import find_weights_dir as find_weights_dir
    from engine.llm.offline.model import OfflineModel as OfflineModel
    from engine.llm.picture_describer import LiteLLMPictureDescriber as LiteLLMPictureDescriber
    from engine.llm.remote_model import LiteLLMModel as LiteLLMModel
    from engine.llm.remote_model import LLMConfig as LLMConfig
    from engine.llm.reranker import LiteLLMReranker as LiteLLMReranker
    from engine.memory import raise_gc_threshold as raise_gc_threshold
    from engine.models import ChatTurn as ChatTurn
    from engine.models import Context as Context
    from engine.models import ContextEntity as ContextEntity
    from engine.models import ContextRelation as ContextRelation
    from engine.models import Document as Document
    from engine.models import Extraction as Extraction
    from engine.models import FilterLookup as FilterLookup
    from engine.models import Filters as Filters
    from engine.models import InferredFilters as InferredFilters
    from engine.models import Link as Link
    from engine.models import LLMMessage as LLMMessage
    from engine.models import Mention as Mention
    from engine.models import Overview as Overview
    from engine.models import Passage as Passage
    from engine.models import Question as Question
    from engine.models import RetrievalMode as RetrievalMode
    from engine.models import Scope as Scope
    from engine.models import Source as Source
    from engine.options import MIN_CONTEXT_TOKENS as MIN_CONTEXT_TOKENS
    from engine.options import ChunkingOptions as ChunkingOptions
    from engine.options import ContextWindow as ContextWindow
    from engine.options import EngineOptions as EngineOptions
    from engine.options import RankingOptions as RankingOptions
    from engine.options import SummaryLimits as SummaryLimits
    from engine.parsers.base import ZIP_ERRORS as ZIP_ERRORS
    from engine.parsers.base import ParsedFile as ParsedFile
    from engine.parsers.base import ParserLimits as ParserLimits
    from engine.parsers.base import PictureDescriber as PictureDescriber
    from engine.parsers.base import read_file_content as read_file_content
    from engine.parsers.chat_export import CONVERSATION_GAP as CONVERSATION_GAP
    from engine.parsers.chat_export import CONVERSATION_TOKENS as CONVERSATION_TOKENS
    from engine.parsers.chat_export import ChatMessage as ChatMessage
    from engine.parsers.chat_export import group_conversations as group_conversations
    from engine.parsers.chat_export import has_chat_messages as has_chat_messages
    from engine.parsers.chat_export import parse_messages as parse_messages
    from engine.parsers.dates import plausible_time as plausible_time
    from engine.parsers.registry import describe_formats as describe_formats
    from engine.parsers.sandbox.origins import OriginLimit as OriginLimit
    from engine.parsers.sandbox.pool import FileParser as FileParser
    from engine.parsers.sandbox.probe import SandboxProbe as SandboxProbe
    from engine.parsers.sandbox.state import SandboxState as SandboxState
    from engine.projection.open_stores import Stores as Stores
    from engine.projection.verify import VerificationReport as VerificationReport
    from engine.retrieval.graph.records import EntitySummary as EntitySummary
    from engine.retrieval.graph.records import FactProvenance as FactProvenance
    from engine.retrieval.graph.records import StatedFact as StatedFact
    from engine.retrieval.graph.records import Subgraph as Subgraph
    from engine.retrieval.graph.records import SubgraphEdge as SubgraphEdge
    from engine.retrieval.graph.records import SubgraphNode as SubgraphNode
    from engine.retrieval.graph.records import SubgraphQuery as SubgraphQuery
    from engine.retrieval.retriever import Neighborhood as Neighborhood
    from engine.scheduling.feature_breaker import FeatureBreaker as FeatureBreaker
    from engine.scheduling.processes import CallLimits as CallLimits
    from engine.scheduling.processes import LocalProcesses as LocalProcesses
    from engine.scheduling.processes import Processes as Processes
    from engine.scheduling.processes import RunningProcess as RunningProcess
    from engine.scheduling.processes import has_others as has_others
    from engine.scheduling.supervisor import Supervisor as Supervisor
    from engine.scheduling.supervisor import backoff_seconds as backoff_seconds
    from engine.scheduling.supervisor import describe_error as describe_error
    from engine.scheduling.tasks import cancel_tasks as cancel_tasks
    from engine.scheduling.tasks import child_task as child_task
    from engine.scheduling.tasks import gather_or_cancel as gather_or_cancel
    from engine.storage.disk import Disk as Disk
    from engine.storage.disk import disk_error as disk_error
    from engine.storage.disk import format_bytes as format_bytes
    from engine.storage.files import remove_tree as remove_tree
    from engine.storage.graph.base import GraphEdge as GraphEdge
    from engine.storage.graph.base import GraphNode as GraphNode
    from engine.storage.graph.base import GraphStore as GraphStore
    from engine.storage.journal import READY as READY
    from engine.storage.journal import UPLOADS as UPLOADS
    from engine.storage.journal import Journal as Journal
    from engine.storage.journal import create_upload as create_upload
    from engine.storage.journal import remove_unused as remove_unused
    from engine.storage.ledger import Ledger as Ledger
    from engine.storage.ledger import compute_file_checksum as compute_file_checksum
    from engine.storage.ledger import prepare_restored_ledger as prepare_restored_ledger
    from engine.storage.ledger import restore_database as restore_database
    from engine.storage.ledger.records import CorrectionChange as CorrectionChange
    from engine.storage.ledger.records import DocumentInfo as DocumentInfo
    from engine.storage.ledger.records import DocumentStatus as DocumentStatus
    from engine.storage.ledger.records import IndexingDay as IndexingDay
    from engine.storage.ledger.records import IndexStatus as IndexStatus
    from engine.storage.ledger.records import ManualCorrection as ManualCorrection
    from engine.storage.ledger.records import StatingPassage as StatingPassage
    from engine.storage.sqlite.database import FileAccess as FileAccess
    from engine.storage.vectors.base import VectorStore as VectorStore
    from engine.text.author_request import by_author as by_author
    from engine.text.author_request import channel_of as channel_of
    from engine.text.cleanup import clean_multiline as clean_multiline
    from engine.text.cleanup import clean_single_line as clean_single_line
    from engine.text.conversations.disentanglement import Utterance as Utterance
    from engine.text.conversations.windows import ConversationWindows as ConversationWindows
    from engine.text.message_line import message_text as message_text
    from engine.text.names import normalize_name as normalize_name
    from engine.text.overview_request import OverviewRequest as OverviewRequest
    from engine.text.overview_request import apply_overview_request as apply_overview_request
    from engine.text.stream_rewriter import RewriteStep as RewriteStep
    from engine.text.stream_rewriter import StreamRewriter as StreamRewriter
    from engine.text.tokenizer import O200kTokenizer as O200kTokenizer
    from engine.text.word_lists import STOP_WORDS as STOP_WORDS
    from engine.usage import Usage as Usage
    from engine.usage import UsageMeter as UsageMeter

_EXPORTS: dict[str, tuple[str, ...]] = {
    "engine.answers.answer": ("Answer",),
    "engine.answers.links.stream": ("LinkFilter",),
    "engine.answers.mentions": ("find_mentions",),
    "engine.boundary": ("MAX_QUESTION_CHARACTERS", "normalize_value", "repair_surrogates"),
    "engine.clock": ("SYSTEM_CLOCK", "Clock"),
    "engine.data_dir": ("DataDir",),
    "engine.parsers.dates": ("plausible_time",),
    "engine.engine": ("Engine",),
    "engine.errors": ("EngineError",),
    "engine.knowledge.manual_facts": ("build_fact",),
    "engine.llm.base": ("Embedder", "LanguageModel", "QueryEmbedder", "Reranker"),
    "engine.llm.checked_embedder": ("wrap_embedder",),
    "engine.llm.client.client": ("ModelClient",),
    "engine.llm.client.subprocess": ("SubprocessProvider",),
    "engine.llm.config": ("OLLAMA_PROVIDERS", "CallTimeouts", "ModelConfig"),
    "engine.llm.default_models": ("open_language_model", "open_picture_describer"),
    "engine.llm.embedder": ("LiteLLMEmbedder",),
    "engine.llm.minilm.embedder": ("MiniLMEmbedder", "find_weights_dir"),
    "engine.llm.offline.model": ("OfflineModel",),
    "engine.llm.remote_model": ("LiteLLMModel", "LLMConfig"),
    "engine.llm.picture_describer": ("LiteLLMPictureDescriber",),
    "engine.llm.reranker": ("LiteLLMReranker",),
    "engine.memory": ("raise_gc_threshold",),
    "engine.models": (
        "ChatTurn",
        "Context",
        "ContextEntity",
        "ContextRelation",
        "Document",
        "Extraction",
        "FilterLookup",
        "Filters",
        "InferredFilters",
        "LLMMessage",
        "Link",
        "Mention",
        "Overview",
        "Passage",
        "Question",
        "RetrievalMode",
        "Scope",
        "Source",
    ),
    "engine.options": (
        "MIN_CONTEXT_TOKENS",
        "ChunkingOptions",
        "ContextWindow",
        "EngineOptions",
        "RankingOptions",
        "SummaryLimits",
    ),
    "engine.parsers.base": ("ZIP_ERRORS", "ParsedFile", "ParserLimits", "PictureDescriber", "read_file_content"),
    "engine.parsers.chat_export": (
        "CONVERSATION_GAP",
        "CONVERSATION_TOKENS",
        "ChatMessage",
        "group_conversations",
        "has_chat_messages",
        "parse_messages",
    ),
    "engine.parsers.registry": ("describe_formats",),
    "engine.parsers.sandbox.origins": ("OriginLimit",),
    "engine.parsers.sandbox.pool": ("FileParser",),
    "engine.parsers.sandbox.probe": ("SandboxProbe",),
    "engine.parsers.sandbox.state": ("SandboxState",),
    "engine.knowledge.duplicates.report": ("Duplicate", "DuplicateReport"),
    "engine.projection.open_stores": ("Stores",),
    "engine.projection.verify": ("VerificationReport",),
    "engine.retrieval.graph.records": (
        "EntitySummary",
        "FactProvenance",
        "StatedFact",
        "Subgraph",
        "SubgraphEdge",
        "SubgraphNode",
        "SubgraphQuery",
    ),
    "engine.retrieval.retriever": ("Neighborhood",),
    "engine.scheduling.processes": ("CallLimits", "LocalProcesses", "Processes", "RunningProcess", "has_others"),
    "engine.scheduling.feature_breaker": ("FeatureBreaker",),
    "engine.scheduling.supervisor": ("backoff_seconds", "Supervisor", "describe_error"),
    "engine.scheduling.tasks": ("cancel_tasks", "child_task", "gather_or_cancel"),
    "engine.storage.disk": ("Disk", "disk_error", "format_bytes"),
    "engine.storage.files": ("remove_tree",),
    "engine.storage.graph.base": ("GraphEdge", "GraphNode", "GraphStore"),
    "engine.storage.journal": ("READY", "UPLOADS", "Journal", "create_upload", "remove_unused"),
    "engine.storage.ledger": (
        "Ledger",
        "compute_file_checksum",
        "prepare_restored_ledger",
        "restore_database",
    ),
    "engine.storage.ledger.records": (
        "ManualCorrection",
        "StatingPassage",
        "CorrectionChange",
        "DocumentInfo",
        "DocumentStatus",
        "IndexStatus",
        "IndexingDay",
    ),
    "engine.storage.sqlite.database": ("FileAccess",),
    "engine.storage.vectors.base": ("VectorStore",),
    "engine.text.author_request": ("by_author", "channel_of"),
    "engine.text.cleanup": ("clean_multiline", "clean_single_line"),
    "engine.text.conversations.windows": ("ConversationWindows",),
    "engine.text.conversations.disentanglement": ("Utterance",),
    "engine.text.message_line": ("message_text",),
    "engine.text.names": ("normalize_name",),
    "engine.text.overview_request": ("OverviewRequest", "apply_overview_request"),
    "engine.text.stream_rewriter": ("RewriteStep", "StreamRewriter"),
    "engine.text.tokenizer": ("O200kTokenizer",),
    "engine.text.word_lists": ("STOP_WORDS",),
    "engine.usage": ("Usage", "UsageMeter"),
}
_MODULES = {name: module for module, names in _EXPORTS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(_MODULES)
