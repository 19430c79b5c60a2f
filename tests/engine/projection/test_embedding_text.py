from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.errors import EngineError, ModelRefused, ModelUnavailable
from engine.llm.checked_embedder import wrap_embedder
from engine.projection.embedding_text import (
    embed_with_isolation,
    entity_text,
    relation_text,
    split_into_parts,
    text_hash,
    truncate_to_tokens,
)
from engine.storage.ledger.records.projection import Profile
from engine.usage import UsageMeter
from tests.support.fake_embedder import HashEmbedder
from tests.support.tokenizers import ByteTokenizer, CharacterTokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

ADA = Profile(1, 1, "Ada", "Sings.", 1, "person")


def test_an_entity_is_embedded_as_its_name_and_description() -> None:
    assert entity_text(ADA) == "Ada\nSings."


def test_a_relation_is_embedded_as_its_keywords_ends_and_description_whichever_end_comes_first() -> None:
    row = Profile(5, 1, "near, far", "Met.", 1, ends=(2, 1))
    assert relation_text(row, {1: "Bob", 2: "Ada"}) == "near, far\nAda\nBob\nMet."
    assert relation_text(row, {1: "Ada", 2: "Bob"}) == relation_text(row, {1: "Bob", 2: "Ada"})


def test_a_vector_belongs_to_an_embedder_and_a_text() -> None:
    assert len({text_hash("a", "x"), text_hash("b", "x"), text_hash("a", "y")}) == 3
    assert text_hash("a", "x") == text_hash("a", "x")


def test_a_text_is_clipped_to_whole_characters() -> None:
    assert truncate_to_tokens("abcdef", 4, CharacterTokenizer()) == "abcd"
    assert truncate_to_tokens("aé", 2, ByteTokenizer()) == "a"
    assert truncate_to_tokens("abc", 3, CharacterTokenizer()) == "abc"


@given(st.text(alphabet="ab \n", max_size=60), st.integers(4, 20))
@example("     ", 4)
def test_the_parts_of_a_chunk_fit_and_hold_all_its_words(text: str, tokens: int) -> None:
    made = split_into_parts(text, tokens, CharacterTokenizer())
    assert made
    assert all(len(part) <= tokens for part in made)
    assert {letter for part in made for letter in part.strip()} >= set(text) - set(" \n")


def test_the_parts_of_a_chunk_are_about_equally_long() -> None:
    made = split_into_parts("word " * 45, 100, CharacterTokenizer())
    assert len(made) == 3
    assert max(map(len, made)) - min(map(len, made)) <= 5


def test_a_chunk_that_fits_is_one_part() -> None:
    assert split_into_parts("short", 5, CharacterTokenizer()) == ["short"]


async def test_each_text_has_its_vector_or_its_own_reason() -> None:
    embedder = HashEmbedder()
    embedder.failing["bad"] = ModelRefused("no")
    made = await embed_with_isolation(wrap_embedder(embedder), ["good one", "bad two", "good three"], UsageMeter())
    expected = await embedder.embed(["good one", "good three"], UsageMeter())
    vectors = [each for each in made if not isinstance(each, EngineError)]
    assert np.array_equal(np.stack(vectors), expected)
    assert [isinstance(each, ModelRefused) for each in made] == [False, True, False]


async def test_where_a_harmless_text_fails_too_no_single_one_is_blamed() -> None:
    embedder = HashEmbedder()
    embedder.failing[""] = ModelUnavailable("away")
    with pytest.raises(ModelUnavailable, match="away"):
        await embed_with_isolation(wrap_embedder(embedder), ["good", "better"], UsageMeter())


async def test_few_calls_find_the_one_bad_text_among_many() -> None:
    embedder, calls = HashEmbedder(), list[int]()
    embedder.failing["bad"] = ModelUnavailable("500")
    embed = embedder.embed

    async def counted(texts: Sequence[str], bill: UsageMeter) -> np.ndarray:
        calls.append(len(texts))
        return await embed(texts, bill)

    embedder.embed = counted  # type: ignore[method-assign]
    texts = [f"text {number}" for number in range(1000)]
    texts[700] = "bad"
    made = await embed_with_isolation(wrap_embedder(embedder), texts, UsageMeter())
    assert [place for place, each in enumerate(made) if isinstance(each, ModelUnavailable)] == [700]
    assert len(calls) < 40
