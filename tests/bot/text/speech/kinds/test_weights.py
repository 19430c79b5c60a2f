from __future__ import annotations

from pathlib import Path

import pytest

from bot.text.speech.addressed import classify_addressed
from bot.text.speech.kinds import passing, weights
from bot.text.speech.kinds.weights import KINDS, classify, estimate, read_table
from bot.text.speech.unaddressed import asks_bot


def test_the_probabilities_of_all_kinds_sum_to_one() -> None:
    chances = estimate("who has the key", {"rules: question"})
    assert len(chances) == len(KINDS)
    assert sum(chances) == pytest.approx(1)
    assert chances[0] > 0.9


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("weiß jemand ob der Beamer wieder geht", "question"),
        ("alguien sabe dónde está la llave", "question"),
        ("update: migration 90% done, no blockers", "statement"),
        ("on a signé ce matin avec la mairie", "statement"),
        ("muito obrigado!!", "thanks"),
        ("are you still there?", "introduction"),
    ],
)
def test_what_was_learned_decides_without_the_rules(text: str, kind: str) -> None:
    assert classify(text, ()) == kind


@pytest.mark.parametrize("file", [weights.FILE, passing.FILE], ids=lambda file: file.stem)
def test_each_feature_of_a_file_is_found_and_no_other(file: Path) -> None:
    table = read_table(file)
    written = dict(line.split("\t", 1) for line in file.read_text(encoding="utf-8").splitlines())
    assert dict(table) == written
    assert len(table) == len(written) == len(set(table))
    assert [name for name in ("at 0 nothing like it", "zzz", "\uffff", "at") if name in table] == []


ASKING = """
wait, is it open today | wait is it open today | one second, is it open today | hold on is it open
moment ist es offen | moment mal, hat Ada bezahlt | warte, kommt der Elektriker heute
espera, está abierto hoy | um momento, está aberto hoje | um momento, já chegou a encomenda
"""
TELLING = """
wait until Friday then | hold on, I'm asking Ada | one second, I'll check | wait, the price is 40
hold on to the key until Friday | wait, no, it opens at ten | moment, ich frag Ada | moment, der Preis ist 40 Euro
warte auf Ada bis Freitag | espera al fontanero hasta las ocho | espera a que venga Luis | un momento, pregunto a Ada
"""


def split(rows: str) -> list[str]:
    return [text for row in rows.strip().splitlines() for text in row.split(" | ")]


@pytest.mark.parametrize("text", split(ASKING))
def test_a_question_behind_a_call_for_patience_is_one(text: str) -> None:
    assert classify_addressed(text) == "question"
    assert asks_bot(text)


@pytest.mark.parametrize("text", split(TELLING))
def test_other_texts_behind_one_are_none(text: str) -> None:
    assert classify_addressed(text) == "statement"
    assert not asks_bot(text)
