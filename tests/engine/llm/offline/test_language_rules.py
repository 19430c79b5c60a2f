from __future__ import annotations

import pytest

from engine.llm.offline.language_forms import list_forms
from engine.llm.offline.language_rules import detect_rules, load_rules
from engine.llm.offline.questions.analysis import answer_type, has_answer_type
from engine.llm.offline.ranking import build_terms
from engine.llm.offline.words import stem


@pytest.mark.parametrize(
    ("question", "language", "kind"),
    [
        ("Wie viele Ruder haben wir?", "de", "quantity"),
        ("Was kostet der Mast?", "de", "price"),
        ("Wann kommt der Prüfer?", "de", "time"),
        ("¿Cuántos remos tenemos?", "es", "quantity"),
        ("¿Quién pinta la verja?", "es", "person"),
        ("¿A qué hora abre el muelle?", "es", "time"),
        ("Combien de rames avons-nous ?", "fr", "quantity"),
        ("Qui peint la barrière ?", "fr", "person"),
        ("Pourquoi le quai est-il fermé ?", "fr", "reason"),
        ("Quantos remos nós temos?", "pt", "quantity"),
        ("Quem pinta a cerca?", "pt", "person"),
        ("Quando abre o cais?", "pt", "time"),
        ("桟橋はいつ開きますか？", "ja", "time"),
        ("柵は誰が塗りますか？", "ja", "person"),
        ("码头什么时候开？", "zh", "time"),
        ("谁来刷栅栏？", "zh", "person"),
    ],
)
def test_what_a_question_asks_for_is_told_in_each_language(question: str, language: str, kind: str) -> None:
    assert (detect_rules(question).language, answer_type(question)) == (language, kind)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Wo finde ich das Ruder?", ["finde", "Ruder"]),
        ("Qu'est-ce qui manque à l'école ?", ["manque", "école"]),
        ("¿Qué le falta al muelle?", ["falta", "muelle"]),
        ("O que falta na doca?", ["falta", "doca"]),
        ("码头为什么关门？", ["码头", "关门"]),
    ],
)
def test_terms_are_without_what_a_language_asks_by(question: str, words: list[str]) -> None:
    assert [term.word for term in build_terms(question, [])] == words


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Der Prüfer kommt nächsten Dienstag.", "time"),
        ("Vienen doce personas.", "quantity"),
        ("Isso custa nove reais.", "price"),
        ("C'est fermé parce que le mur penche.", "reason"),
        ("桟橋は四月末まで閉まっています。", "time"),
        ("我来刷。", "person"),
    ],
)
def test_an_answer_is_told_in_each_language(text: str, kind: str) -> None:
    assert has_answer_type(text, kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("language", "word", "known", "found"),
    [
        ("de", "Häuser", ["haus", "hand"], {"haus"}),
        ("de", "Schlüssel", ["ersatzschlüssel", "schloss"], {"ersatzschlüssel"}),
        ("de", "kaufen", ["anschaff", "anschaffen"], {"anschaff", "anschaffen"}),
        ("fr", "répétition", ["répétitions", "repas"], {"répétitions"}),
        ("fr", "école", ["l'école", "collège"], {"l'école"}),
        ("es", "decisiones", ["decisión"], {"decisión"}),
        ("ja", "学校", ["学校"], set()),
        ("en", "houses", ["hous"], set()),
    ],
)
def test_forms_of_a_word_are_found(language: str, word: str, known: list[str], found: set[str]) -> None:
    forms = list_forms({stem(word): word}, known, load_rules(language))
    assert set().union(*forms.values()) == found


def test_german_nouns_are_no_names() -> None:
    [noun] = build_terms("Wo ist denn das Ruder?", [])
    assert (noun.is_name, noun.is_noun) == (False, True)
    [name] = build_terms("Where is Ruder?", [])
    assert (name.is_name, name.is_noun) == (True, False)
