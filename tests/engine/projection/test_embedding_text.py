from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.errors import EngineError, Refused, Unavailable
from engine.llm.checked_embedder import checked
from engine.projection.embedding_text import clip, embed_each, entity_text, parts, relation_text, text_hash
from engine.storage.ledger.profiles import Profile
from engine.usage import Bill
from tests.support.embedder import HashEmbedder
from tests.support.tokenizers import Bytes, Characters

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
    assert clip("abcdef", 4, Characters()) == "abcd"
    assert clip("aé", 2, Bytes()) == "a"
    assert clip("abc", 3, Characters()) == "abc"


@given(st.text(alphabet="ab \n", max_size=60), st.integers(4, 20))
@example("     ", 4)
def test_the_parts_of_a_chunk_fit_and_hold_all_its_words(text: str, tokens: int) -> None:
    made = parts(text, tokens, Characters())
    assert made
    assert all(len(part) <= tokens for part in made)
    assert {letter for part in made for letter in part.strip()} >= set(text) - set(" \n")


def test_the_parts_of_a_chunk_are_about_equally_long() -> None:
    made = parts("word " * 45, 100, Characters())
    assert len(made) == 3
    assert max(map(len, made)) - min(map(len, made)) <= 5


def test_a_chunk_that_fits_is_one_part() -> None:
    assert parts("short", 5, Characters()) == ["short"]


async def test_each_text_has_its_vector_or_its_own_reason() -> None:
    embedder = HashEmbedder()
    embedder.failing["bad"] = Refused("no")
    made = await embed_each(checked(embedder), ["good one", "bad two", "good three"], Bill())
    expected = await embedder.embed(["good one", "good three"], Bill())
    vectors = [each for each in made if not isinstance(each, EngineError)]
    assert np.array_equal(np.stack(vectors), expected)
    assert [isinstance(each, Refused) for each in made] == [False, True, False]


async def test_where_a_harmless_text_fails_too_no_single_one_is_blamed() -> None:
    embedder = HashEmbedder()
    embedder.failing[""] = Unavailable("away")
    with pytest.raises(Unavailable, match="away"):
        await embed_each(checked(embedder), ["good", "better"], Bill())


async def test_few_calls_find_the_one_bad_text_among_many() -> None:
    embedder, calls = HashEmbedder(), list[int]()
    embedder.failing["bad"] = Unavailable("500")
    embed = embedder.embed

    async def counted(texts: Sequence[str], bill: Bill) -> np.ndarray:
        calls.append(len(texts))
        return await embed(texts, bill)

    embedder.embed = counted  # type: ignore[method-assign]
    texts = [f"text {number}" for number in range(1000)]
    texts[700] = "bad"
    made = await embed_each(checked(embedder), texts, Bill())
    assert [place for place, each in enumerate(made) if isinstance(each, Unavailable)] == [700]
    assert len(calls) < 40
