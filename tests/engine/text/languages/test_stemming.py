from __future__ import annotations

import pytest

from engine.text.languages.detection import TAGS, detect_language, find_languages, list_query_stems, list_stem_terms


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der Kahn liegt seit gestern im Hafen.", "de"),
        ("The barge has been in the harbor since yesterday.", "en"),
        ("La barca está en el puerto desde ayer.", "es"),
        ("Le bateau est dans le port depuis hier.", "fr"),
        ("O barco está no porto desde ontem.", "pt"),
        ("La barca è nel porto da ieri, ma il molo non è libero.", "it"),
        ("De boot ligt sinds gisteren in de haven.", "nl"),
        ("Лодка стоит в гавани со вчерашнего дня.", "ru"),
        ("القارب في الميناء منذ أمس", "ar"),
        ("Човен стоїть у гавані", ""),
        ("ERR_CONNECTION_REFUSED 10.0.0.2:8080", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_sentence_is_told(text: str, language: str) -> None:
    assert detect_language(text).language == language


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("de", "Häuser", "Hauses"),
        ("de", "Mueller", "Müller"),
        ("es", "decisiones", "decisión"),
        ("fr", "réunions", "réunion"),
        ("pt", "votações", "votação"),
        ("ru", "гавани", "гавань"),
        ("ar", "المدرسة", "مدرسة"),
    ],
)
def test_forms_of_a_word_have_the_same_term(language: str, one: str, other: str) -> None:
    first = list_query_stems(one, [language])
    assert first == list_query_stems(other, [language])
    assert first[0].endswith(TAGS[language])


def test_each_line_is_stemmed_in_its_own_language() -> None:
    text = (
        "[2026-03-02 10:00] Ada: Wir haben die Boote nicht an den Verein verkauft.\n"
        "[2026-03-02 10:01] Bo: What will we do with all of the oars, and when?\n"
        "[2026-03-02 10:02] Ada: Zwei Ruder und der Anker sind noch im Schuppen."
    )
    terms = list_stem_terms(text)
    assert find_languages(terms) == {"de"}
    assert {term[:-1] for term in terms} >= {"boot", "verkauft", "rud"}
    assert not {"oar", "oars"} & {term[:-1] for term in terms}


def test_words_of_other_scripts_and_languages_have_no_term() -> None:
    assert list_stem_terms("The barges are in the harbor, and it is late.") == []
    assert not any(list_query_stems(*query) for query in (("гавань", ["de"]), ("Boot", ["ru"]), ("Boot", ["en"])))
