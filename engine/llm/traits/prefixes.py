"""The words that embedding models expect before a question and before a stored text. Pure.

Such models were trained with them, and find less without. Providers take them as a parameter, servers of open models
as a part of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class EmbeddingPrefixes:
    """What is put before questions and passages, and the parameters that are sent with each."""

    query: str = ""
    passage: str = ""
    query_parameters: Mapping[str, Any] = field(default_factory=dict)
    passage_parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        """Whether questions and passages are embedded alike."""
        return self == EmbeddingPrefixes()


_INSTRUCT = "Instruct: Given a question, retrieve passages that answer it\nQuery: "
_BGE = "Represent this sentence for searching relevant passages: "
_BGE_CHINESE = "为这个句子生成表示以用于检索相关文章："
_COHERE = EmbeddingPrefixes(
    query_parameters={"input_type": "search_query"}, passage_parameters={"input_type": "search_document"}
)
_VOYAGE = EmbeddingPrefixes(query_parameters={"input_type": "query"}, passage_parameters={"input_type": "document"})
_GEMINI = EmbeddingPrefixes(
    query_parameters={"task_type": "RETRIEVAL_QUERY"}, passage_parameters={"task_type": "RETRIEVAL_DOCUMENT"}
)
_JINA = EmbeddingPrefixes(
    query_parameters={"task": "retrieval.query"}, passage_parameters={"task": "retrieval.passage"}
)
_NVIDIA = EmbeddingPrefixes(query_parameters={"input_type": "query"}, passage_parameters={"input_type": "passage"})
_SEARCH = EmbeddingPrefixes("search_query: ", "search_document: ")
_TITLED = EmbeddingPrefixes("task: search result | query: ", "title: none | text: ")
# The first row whose pattern is found in the name of a model decides; a provider's own name comes before the slash.
_BY_NAME: tuple[tuple[str, EmbeddingPrefixes], ...] = (
    (r"^(cohere|bedrock|azure_ai)/.*(embed-(v\d|english|multilingual)|cohere\.embed)", _COHERE),
    (r"^voyage/", _VOYAGE),
    (r"^(gemini|vertex_ai)/.*(embedding|gecko)", _GEMINI),
    (r"^jina_ai/jina-embeddings-v[3-9]", _JINA),
    (r"^nvidia_nim/.*(embed|e5|bge)", _NVIDIA),
    (r"e5-mistral|e5-.*instruct|qwen3-embedding|gte-qwen|linq-embed|sfr-embedding", EmbeddingPrefixes(_INSTRUCT)),
    (r"(^|[/_-])(multilingual-)?e5-(small|base|large)|(^|/)e5-", EmbeddingPrefixes("query: ", "passage: ")),
    (r"nomic-embed|nomic-bert|modernbert-embed", _SEARCH),
    (r"bge-(small|base|large)-zh", EmbeddingPrefixes(_BGE_CHINESE)),
    (r"bge-(small|base|large)(-en)?|mxbai-embed|snowflake-arctic-embed(?!.*2)|uae-large", EmbeddingPrefixes(_BGE)),
    (r"arctic-embed.*2", EmbeddingPrefixes("query: ")),
    (r"embedding-?gemma", _TITLED),
)


def find_prefixes(model: str) -> EmbeddingPrefixes:
    """The prefixes of a known model, none for others (bge-m3 and models of OpenAI need none)."""
    name = model.casefold()
    return next((found for pattern, found in _BY_NAME if re.search(pattern, name)), EmbeddingPrefixes())
