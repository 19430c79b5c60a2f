"""Misspelled words of a question: corrected by the words of the scope alone."""

from __future__ import annotations

import pytest

from engine.answers.spelling import choose_correction, is_correctable, list_starts, measure_distance
from engine.llm.offline.model import OfflineModel
from engine.models import Filters, Question, Scope
from engine.text.tokenizer import O200kTokenizer
from tests.support.engine_fixture import doc
from tests.support.fake_embedder import HashEmbedder
from tests.support.indexed_engine import OpenIndexed

HERE, BOTH = Scope(frozenset({"here"}), frozenset()), Scope(frozenset({"here", "there"}), frozenset())


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("heron", "heron", 0),
        ("hreon", "heron", 1),
        ("herons", "heron", 1),
        ("haron", "heron", 1),
        ("reciepts", "receipts", 1),
        ("cantene", "canteen", 1),
        ("ferry", "heron", 2),
        ("a" * 30, "b" * 30, 2),
    ],
)
def test_the_distance_counts_swapped_letters_once(one: str, other: str, distance: int) -> None:
    assert min(measure_distance(one, other, 1), 2) == distance or measure_distance(one, other, 2) == distance


@pytest.mark.parametrize(
    ("word", "texts", "found"),
    [
        ("hreon", ["The Heron costs more."], "Heron"),
        ("warrenty", ["A warranty.", "Warranty and warranty"], "warranty"),
        ("hreon", ["hero hers here"], ""),
        ("hollis", ["polish holds"], ""),
        ("secrtes", ["Secrets, secret"], "Secrets"),
        ("lorry", ["I am sorry."], ""),
        ("ehron", ["The Heron costs more."], "Heron"),
    ],
)
def test_the_nearest_word_is_chosen_as_it_is_written_most(word: str, texts: list[str], found: str) -> None:
    assert choose_correction(word, texts) == found


def test_common_words_ids_and_short_words_are_never_corrected() -> None:
    words = ("shipping", "Madrid", "pool", "E21", "abc", "x" * 40, "hreon", "resposible")
    assert [word for word in words if is_correctable(word, O200kTokenizer())] == ["hreon", "resposible"]


def test_beginnings_allow_for_a_mistake_in_the_first_letters() -> None:
    assert {"hreon", "hreo", "hre", "hero"} <= set(list_starts("hreon"))
    assert all(len(start) >= 2 for word in ("hreon", "abcd") for start in list_starts(word))


async def test_only_words_of_the_scope_correct_a_question(indexed: OpenIndexed) -> None:
    language, there = OfflineModel(HashEmbedder()), doc("b", "The Heronry is open.", space="there")
    engine = await indexed(doc("a", "The ferry sails at noon."), there, language=language)
    for scope, corrections in ((HERE, ()), (BOTH, (("hernory", "Heronry"),))):
        context = await engine.retrieve(Question("When is the hernory open?", scope))
        assert context.question.corrections == corrections
        assert ("Heronry" in context.question.question) == bool(corrections)


async def test_a_word_of_what_the_answer_does_not_use_is_never_shown(indexed: OpenIndexed) -> None:
    language, there = OfflineModel(HashEmbedder()), doc("b", "The Heronry is open.", space="there")
    engine = await indexed(doc("a", "The ferry sails at noon."), there, language=language)
    asked = Question("Does the ferry sail to the hernory?", BOTH, filters=Filters(documents=frozenset({"a"})))
    answer = await engine.ask(asked)
    assert "heronry" not in (await answer.collect_text()).casefold()
    assert (answer.context.question.corrections, answer.context.question.question) == ((), asked.text)


async def test_a_word_that_somebody_wrote_so_stays(indexed: OpenIndexed) -> None:
    language = OfflineModel(HashEmbedder())
    engine = await indexed(doc("a", "The Hernory is a pub.", "The Heronry is open."), language=language)
    context = await engine.retrieve(Question("When is the Hernory open?", HERE))
    assert context.question.corrections == ()


async def test_a_language_model_gets_the_question_as_it_was_written(indexed: OpenIndexed) -> None:
    engine = await indexed(doc("a", "The Heronry is open."))
    context = await engine.retrieve(Question("When is the hernory open?", HERE))
    assert context.question.question == "When is the hernory open?"
