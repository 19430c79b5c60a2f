from __future__ import annotations

import pytest

from engine.llm.offline.questions.ellipsis import (
    acts_together,
    asks_name,
    drop_owners,
    exchanges_number,
    find_last_question,
    has_object_pronoun,
    lacks_subject,
    means_actors,
    means_thing,
    stands_for_noun,
)


@pytest.mark.parametrize(
    "text",
    [
        *("¿a qué hora abre?", "que horas abre?", "y cuánto cuesta", "quando fecha", "¿cuándo abre hoy?"),
        *("¿cuándo se fundó?", "como se chama?", "quando foi construído?", "quanto pode custar?", "cuándo va a abrir"),
        *(
            "¿Cuándo se construyó?",
            "¿Está abierto?",
            "É muito caro?",
            "¿De qué color es?",
            "¿Se puede visitar?",
            "Quantas páginas tem?",
        ),
    ],
)
def test_a_verb_without_a_subject_lacks_one(text: str) -> None:
    assert lacks_subject(text)


@pytest.mark.parametrize(
    "text",
    [
        *("¿a qué hora abre el museo?", "quanto custa o bolo", "cuándo llega Marta", "¿cómo pido vacaciones?"),
        *("quién aprueba facturas?", "cuánto cuesta aparcar?", "qué comemos hoy", "quem aprova férias?"),
        *("quanto custa estacionamento?", "¿cuándo cobramos nóminas?"),
        *("¿Está abierta la piscina?", "¿Está permitido fumar?", "¿Se puede visitar el faro?", "¿Es Navidad?"),
    ],
)
def test_a_verb_with_a_subject_lacks_none(text: str) -> None:
    assert not lacks_subject(text)


def test_a_number_alone_replaces_a_number() -> None:
    assert exchanges_number("and number 7?")
    assert not exchanges_number("and 7 chairs for Monday?")


def test_pronouns_and_demonstratives_are_told_apart() -> None:
    assert has_object_pronoun("¿quién lo dirige?")
    assert means_thing("is it open?")
    assert not means_thing("is she here?")
    assert stands_for_noun("celui de Brest ?")
    assert all(map(stands_for_noun, ("der vom Anhänger?", "el de lana?", "o da manhã?", "celle du port ?")))
    assert not stands_for_noun("le refuge de Brest ?")
    assert not stands_for_noun("der Anhänger?")


def test_pronouns_for_several_or_a_company_are_known() -> None:
    assert all(
        map(means_actors, ("when do they come?", "wann liefern sie?", "quand livrent-ils ?", "e o preço deles?"))
    )
    assert not any(map(means_actors, ("is it open?", "können Sie das sagen?", "where does he live?")))


def test_a_plural_verb_without_a_subject_is_of_several() -> None:
    assert all(map(acts_together, ("¿cuándo entregan?", "Quanto cobram?")))
    assert not any(map(acts_together, ("¿cuánto cuesta?", "¿cuándo está?", "¿cuándo entregan los libros?")))


def test_what_owns_the_first_noun_is_kept() -> None:
    assert drop_owners(["cuota", "del", "refugio", "de", "Teruel"]) == ["refugio", "Teruel"]
    assert drop_owners(["refugio", "de", "Teruel"]) == ["refugio", "Teruel"]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Really? What about the gate?", "What about the gate?"),
        ("I live far away. How do I reach it?", "How do I reach it?"),
        *((text, text) for text in ("What about No. 7?", "and e.g. this one?", "Who pays? Thanks.")),
    ],
)
def test_a_message_ends_with_its_question(text: str, question: str) -> None:
    assert find_last_question(text) == question


def test_some_questions_ask_for_a_name() -> None:
    assert all(map(asks_name, ("Who builds it?", "welche Firma baut es?", "qui paie ?", "誰が払うの")))
    assert all(
        map(asks_name, ("What is its name?", "Wie lautet der Name?", "quel est le nom ?", "o nome dela?", "名前は？"))
    )
    assert not any(map(asks_name, ("When does it open?", "wie hoch ist er?", "c'est combien ?")))
