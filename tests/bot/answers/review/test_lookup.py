"""Paraphrases are recognized, and questions about something else are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.answers.review.lookup import QuestionWords
from engine.llm.checked_embedder import wrap_embedder
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.usage import UsageMeter

PAIRS = Path(__file__).parent


def is_same_question(one: str, other: str, similarity: float) -> bool:
    """Whether two questions ask the same; `similarity`: of their vectors."""
    needed = QuestionWords.parse(one).min_similarity(QuestionWords.parse(other))
    return needed is not None and similarity >= needed


@pytest.mark.parametrize("name", ["tuning", "unseen"])
async def test_paraphrases_are_recognized_and_similar_questions_are_not(name: str) -> None:
    """`tuning` chose words and thresholds, `unseen` was written before and looked at afterwards only."""
    embedder, hits, wrong, count = wrap_embedder(MiniLMEmbedder()), 0, [], 0
    for line in (PAIRS / f"questions_{name}.jsonl").read_text().splitlines():
        case = json.loads(line)
        texts = [case["question"], *case["same"], *case["other"]]
        similarities = (await embedder.measure_similarities(texts, UsageMeter()))[0]
        found = [
            text
            for text, similarity in zip(texts[1:], similarities[1:], strict=True)
            if is_same_question(texts[0], text, similarity)
        ]
        wrong += [(texts[0], text) for text in found if text in case["other"]]
        hits += len(found)
        count += len(case["same"])
    assert wrong == []
    assert hits >= 0.45 * count


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Why do we use Kafka instead of RabbitMQ?", "Why do we use RabbitMQ instead of Kafka?"),
        ("How do I turn the alarm on?", "How do I turn the alarm off?"),
        ("What is the budget for 2025?", "What is the budget for 2026?"),
        ("Who changed the lock?", "When was the lock changed?"),
        ("Is the roof done?", "Is the roof not done?"),
        ("What does ticket OPS-12 say?", "What does ticket OPS-21 say?"),
        ("How much is it for members?", "How much less is it for members?"),
        ("When is the office open?", "When is the office open on Sunday?"),
        ("", ""),
        ("What is it?", "Who is it?"),
    ],
)
def test_a_word_that_turns_the_meaning_is_no_detail(one: str, other: str) -> None:
    assert not is_same_question(one, other, 1.0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Darf man auf dem Dach rauchen?", "Darf man auf dem Dach nicht rauchen?"),
        ("Wie komme ich von Berlin nach Hamburg?", "Wie komme ich von Hamburg nach Berlin?"),
        ("Wer hat den Schlüssel zum Hof?", "Wo ist der Schlüssel zum Hof?"),
        ("Wann beginnt die Sitzung?", "Wo beginnt die Sitzung?"),
        ("Ist der Hof offen?", "Ist der Hof heute offen?"),
        ("Qui a la clé de la cour ?", "Où est la clé de la cour ?"),
        ("Peut-on fumer sur le toit ?", "Peut-on sans risque fumer sur le toit ?"),
        ("¿Se puede pagar con tarjeta?", "¿Se puede pagar sin tarjeta?"),
        ("¿Cuándo abre la oficina?", "¿Dónde abre la oficina?"),
        ("Pode fumar no telhado?", "Não pode fumar no telhado?"),
        ("Quem abre o escritório?", "Quando abre o escritório?"),
    ],
)
def test_words_that_turn_the_meaning_are_known_in_five_languages(one: str, other: str) -> None:
    """A model of English vectors finds each pair more similar than 0.88."""
    assert not is_same_question(one, other, 1.0)
    assert is_same_question(one, one.rstrip("?"), 1.0)


def test_equal_words_need_similar_vectors_and_a_further_word_needs_more() -> None:
    assert is_same_question("When do the tiles come?", "When will the tiles come, please?", 0.76)
    assert not is_same_question("When do the tiles come?", "When will the tiles come, please?", 0.7)
    assert is_same_question("When do the tiles come?", "When do the roof tiles come?", 0.9)
    assert not is_same_question("When do the tiles come?", "When do the roof tiles come?", 0.8)
