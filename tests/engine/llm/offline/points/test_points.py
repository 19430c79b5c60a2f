"""Decisions, open questions and tasks, in the languages of the chat; what only resembles them is left out."""

from __future__ import annotations

import pytest

from engine.llm.offline.highlights import find_highlights
from tests.engine.llm.offline.sources import source

MINUTES = "Team minutes of 4 May"
DECISIONS = (
    "We keep Nordwind, and buy 40 filters.",
    "OK, we'll switch to the paper bags.",
    "We go with the blue tiles.",
    "Wir nehmen den zweiten Entwurf.",
    "次からは紙の袋を使うことにした。",
    "We postpone the fair to June.",
    "Outcome: two ovens instead of three.",
    "Wir behalten die alte Presse und bestellen zwei Walzen.",
    "On garde le vieux four et on achète deux plaques.",
    "Mantenemos el horno viejo.",
    "Mantemos o forno velho e adiamos a feira.",
    "古い窯を継続します。",
    "パン祭りは見送ることにしました。",
)
NO_DECISIONS = (
    "We keep getting strange errors.",
    "We go for a walk at noon.",
    "We buy flour every Monday.",
    "If it rains, we cancel the fair.",
    "We have two ovens.",
    "Do we keep the oven?",
    "We bought flour yesterday.",
    "Wir haben zwei Walzen.",
    "On achète souvent des plaques.",
)


@pytest.mark.parametrize("said", DECISIONS)
def test_what_a_group_resolves_to_do_is_a_decision(said: str) -> None:
    assert said in find_highlights([source(1, f"[2026-05-04 09:07] Ada: {said}", "c1")], "decisions")


@pytest.mark.parametrize("said", NO_DECISIONS)
def test_what_a_group_does_anyway_is_none(said: str) -> None:
    assert not find_highlights([source(1, f"[2026-05-04 09:07] Ada: {said}", "c1")], "decisions")


def test_in_minutes_a_group_decides_by_saying_what_it_does() -> None:
    reports = "We discussed the price of the kiln for a long time. We have two kilns in the old hall by now."
    said = f"{reports} We paint the kiln in the hall green. We invite Mina to the next meeting in June."
    found = find_highlights([source(1, said, "f1", title=MINUTES)], "decisions")
    assert "We paint the kiln in the hall green" in found
    assert "We invite Mina" in found
    assert "discussed" not in found
    assert "two kilns" not in found
    assert not find_highlights([source(1, said, "f1", title="A letter")], "decisions")


ASKED = (
    "Who orders the scaffold for the west roof? I am away until Monday.",
    "Does anybody know the code of the shed",
    "Wer bestellt das Gerüst für das Dach?",
    "Weiß jemand, wo der Schlüssel liegt",
    "¿Quién pide el andamio?",
    "Qui commande l'échafaudage ?",
    "Quem encomenda o andaime?",
    "足場は誰が注文しますか？",
    "足場は誰が注文しますか。",
)


@pytest.mark.parametrize("asked", ASKED)
def test_a_question_stays_open_if_the_next_message_is_about_something_else(asked: str) -> None:
    said = [
        source(1, f"[2026-05-04 09:05] Bela: {asked}", "c1"),
        source(2, "[2026-05-04 09:30] Ada: The invoice of the baker went out with the post this morning.", "c1"),
        source(3, "[2026-05-04 09:31] Ada: 請求書は今朝パン屋の郵便で出ましたので安心です。", "c1"),
    ]
    assert asked.split("?", maxsplit=1)[0].split("？", maxsplit=1)[0] in find_highlights(said, "questions")


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        ("鍵はどこにありますか？", "三番の棚。"),
        ("Where is the long ladder?", "Behind the shed."),
        ("Who orders the scaffold?", "Mina orders it, the scaffold comes on Friday."),
        ("When does the baker come to us?", "Usually the van is there at around 7 in the morning."),
        ("Why does the gutter drip?", "The leaves lie in it again, the roofer knows."),
        ("Who can help Bela?", "Bela, come to my desk after lunch and bring the papers with you."),
        ("How are you today?", "The invoice of the baker went out with the post this morning."),
    ],
)
def test_a_question_is_answered_by_what_it_asks_for(asked: str, reply: str) -> None:
    said = [
        source(1, f"[2026-05-04 09:05] Bela: {asked}", "c1"),
        source(2, f"[2026-05-04 09:06] Ada: {reply}", "c1"),
    ]
    assert not find_highlights(said, "questions")


@pytest.mark.parametrize(
    "line", ["Open: who pays for the gutter?", "Still unclear: do we need a lift?", "Not clear yet: which roof."]
)
def test_a_file_names_open_questions_by_a_label(line: str) -> None:
    said = [source(1, f"Minutes\n\n- We keep the old scaffold.\n- {line}", "f1", title="Minutes")]
    assert line in find_highlights(said, "questions")


TASKS = (
    "I'll send the offer to the council today.",
    "Bela will paint the gutter.",
    "Bela, please order the slate.",
    "TODO: water the plants in the hall",
    "Ich kümmere mich um die Rechnung.",
    "Je m'occupe de la facture.",
    "Yo me encargo de la factura.",
    "Eu trato da fatura.",
    "見積もりは私が送ります。",
)


@pytest.mark.parametrize("said", TASKS)
def test_a_digest_says_who_does_what(said: str) -> None:
    other = source(2, "[2026-05-04 09:10] Bela: The slate of the roof is grey and heavy this year.", "c1")
    found = find_highlights([source(1, f"[2026-05-04 09:07] Ada: {said}", "c1"), other], "digest")
    assert f"**Who does what**\n- Ada (2026-05-04 09:07 UTC): “{said}” [1]" in found


@pytest.mark.parametrize("said", ["I'll be away on Monday.", "The rain will stop soon.", "I'll see you at the fair."])
def test_a_remark_about_the_future_is_no_task(said: str) -> None:
    assert "Who does what" not in find_highlights([source(1, f"[2026-05-04 09:07] Ada: {said}", "c1")], "digest")


def test_a_digest_of_a_busy_day_names_topics_and_leaves_most_messages_out() -> None:
    talks = {
        "c1": ["The kiln glaze cracked again.", "The glaze needs a slower kiln.", "Glaze number 12 holds in the kiln."],
        "c2": ["The parking permit costs 30 now.", "A permit for the yard is cheaper."],
        "c3": ["Good morning to all of you."],
    }
    said = [
        source(number, f"[2026-05-04 09:{number:02}] {'Ada' if number % 2 else 'Bela'}: {text}", key)
        for number, (key, text) in enumerate(((key, text) for key in talks for text in talks[key]), 1)
    ]
    topics = find_highlights(said, "digest").partition("**Topics**\n")[2].splitlines()
    assert len(topics) == 2
    assert "glaze" in topics[0].casefold().partition(" – ")[0]
    assert "permit" in topics[1].casefold().partition(" – ")[0]
