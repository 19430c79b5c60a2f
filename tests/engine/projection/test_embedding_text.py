from __future__ import annotations

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
from engine.text.tokenizer import Tokenizer
from engine.usage import UsageMeter
from tests.support.fake_embedder import HashEmbedder
from tests.support.tokenizers import ByteTokenizer, CharacterTokenizer


def test_names_and_relations_are_embedded_as_texts_whichever_end_comes_first() -> None:
    assert entity_text(Profile(1, 1, "Ada", "Sings.", 1, "person")) == "Ada\nSings."
    relation = Profile(5, 1, "near, far", "Met.", 1, ends=(2, 1))
    for names in ({1: "Bob", 2: "Ada"}, {1: "Ada", 2: "Bob"}):
        assert relation_text(relation, names) == "near, far\nAda\nBob\nMet."


def test_a_vector_belongs_to_an_embedder_and_a_text() -> None:
    assert len({text_hash("a", "x"), text_hash("b", "x"), text_hash("a", "y"), text_hash("a", "x")}) == 3


@pytest.mark.parametrize(
    ("text", "tokens", "tokenizer", "clipped"),
    [
        ("abcdef", 4, CharacterTokenizer(), "abcd"),
        ("aé", 2, ByteTokenizer(), "a"),
        ("abc", 3, CharacterTokenizer(), "abc"),
    ],
)
def test_a_text_is_clipped_to_whole_characters(text: str, tokens: int, tokenizer: Tokenizer, clipped: str) -> None:
    assert truncate_to_tokens(text, tokens, tokenizer) == clipped


@given(st.text(alphabet="ab \n", max_size=60), st.integers(4, 20))
@example("     ", 4)
def test_the_parts_of_a_chunk_fit_and_hold_all_its_words(text: str, tokens: int) -> None:
    parts = split_into_parts(text, tokens, CharacterTokenizer())
    assert parts
    assert all(len(part) <= tokens for part in parts)
    assert len(parts) == 1 or len(text) > tokens
    assert {letter for part in parts for letter in part.strip()} >= set(text) - set(" \n")


def test_the_parts_of_a_chunk_are_about_equally_long() -> None:
    lengths = [len(part) for part in split_into_parts("word " * 45, 100, CharacterTokenizer())]
    assert len(lengths) == 3
    assert max(lengths) - min(lengths) <= 5


@pytest.mark.parametrize("count", [3, 1000])
async def test_each_text_has_its_vector_or_its_own_reason_after_few_calls(count: int) -> None:
    embedder, texts = HashEmbedder(), [f"text {number}" for number in range(count)]
    bad = count * 2 // 3
    texts[bad] = "bad"
    embedder.failing["bad"] = ModelRefused("no")
    made = await embed_with_isolation(wrap_embedder(embedder), texts, UsageMeter())
    assert len(embedder.batches) < 40
    assert [at for at, each in enumerate(made) if isinstance(each, ModelRefused)] == [bad]
    vectors = [vector for vector in made if not isinstance(vector, EngineError)]
    expected = await HashEmbedder().embed([*texts[:bad], *texts[bad + 1 :]], UsageMeter())
    assert np.array_equal(np.stack(vectors), expected)


async def test_where_a_harmless_text_fails_too_no_single_one_is_blamed() -> None:
    embedder = HashEmbedder()
    embedder.failing[""] = ModelUnavailable("away")
    with pytest.raises(ModelUnavailable, match="away"):
        await embed_with_isolation(wrap_embedder(embedder), ["good", "better"], UsageMeter())
