from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.embedding import clip, embed_or_spare, entity_text, parts, relation_text, text_hash
from engine.errors import Refused, Unavailable
from engine.ledger.profiles import Profile
from engine.records import Bill
from tests.fakes.embedder import HashEmbedder
from tests.fakes.tokenizers import Bytes, Characters

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


async def test_a_refused_text_gives_way_to_its_spare_and_no_other_does() -> None:
    embedder = HashEmbedder()
    embedder.failing["bad"] = Refused("no")
    texts, spare = ["good one", "bad two", "good three"], ["one", "two", "three"]
    made = await embed_or_spare(embedder, texts, spare, Bill())
    expected = await embedder.embed(["good one", "two", "good three"], Bill())
    assert np.array_equal(made, expected)


async def test_a_text_refused_with_its_spare_is_an_error() -> None:
    embedder = HashEmbedder()
    embedder.failing["bad"] = Refused("no")
    with pytest.raises(Refused):
        await embed_or_spare(embedder, ["bad text", "good"], ["bad", "good"], Bill())


async def test_an_embedder_that_is_away_is_not_asked_for_the_spares() -> None:
    embedder = HashEmbedder()
    embedder.failing["good"] = Unavailable("away")
    with pytest.raises(Unavailable):
        await embed_or_spare(embedder, ["good"], ["spare"], Bill())
