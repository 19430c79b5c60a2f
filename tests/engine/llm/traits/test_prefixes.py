from __future__ import annotations

import pytest

from engine.llm.traits.prefixes import find_prefixes


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("hosted_vllm/intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("ollama/nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("openai/BAAI/bge-base-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("ollama/bge-m3", "", ""),
        ("openai/text-embedding-3-small", "", ""),
        ("ollama/embeddinggemma", "task: search result | query: ", "title: none | text: "),
    ],
)
def test_known_names_tell_the_words_that_a_model_expects(model: str, query: str, passage: str) -> None:
    found = find_prefixes(model)
    assert (found.query, found.passage) == (query, passage)


@pytest.mark.parametrize(
    ("model", "name", "query"),
    [
        ("cohere/embed-multilingual-v3.0", "input_type", "search_query"),
        ("voyage/voyage-3.5", "input_type", "query"),
        ("gemini/gemini-embedding-001", "task_type", "RETRIEVAL_QUERY"),
    ],
)
def test_providers_take_a_parameter_instead(model: str, name: str, query: str) -> None:
    found = find_prefixes(model)
    assert found.query_parameters[name] == query
    assert found.passage_parameters[name] != query
