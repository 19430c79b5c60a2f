from __future__ import annotations

import pytest

from engine.llm.offline.questions.rewrite import extract_keywords, rewrite_query
from engine.models import ChatTurn

HISTORY = (
    ChatTurn("user", "Who rents locker L-19, and what did the tenant promise?"),
    ChatTurn(
        "assistant",
        "- “Locker L-19 is rented by Hanna Karim.” [1]\n"
        "- Hanna Karim (2026-02-20 19:40 UTC): “I promise to bring back the brushes to Torfield Ltd.” [2]",
    ),
)
ASKED = "L-19, rents, locker, tenant, promise"


@pytest.mark.parametrize(
    ("asked", "whole"),
    [
        # A pronoun for a person becomes the person spoken of most.
        ("Where can I find her on a Monday?", "Where can I find Hanna Karim on a Monday?"),
        ("Who is her boss?", "Who is Hanna Karim's boss?"),
        ("What did she promise?", "What did Hanna Karim promise?"),
        # What a follow-up leaves unsaid stands in brackets behind it.
        ("Is it expensive?", "Is it expensive? (L-19)"),
        ("What is kept there?", f"What is kept there? (Hanna Karim, {ASKED})"),
        ("And on Sundays?", f"And on Sundays? ({ASKED})"),
        ("Why?", f"Why? (Hanna Karim, {ASKED})"),
        # A question that stands alone is left alone.
        *((asked, asked) for asked in ("How much is a ticket on the ferry?", "Is there a sauna in the building?")),
        *((asked, asked) for asked in ("And what happened to the yellow tail of the Box kite?",)),
        *((asked, asked) for asked in ("Until when may the Patient Agnes use her landing?",)),
        *((asked, asked) for asked in ("Who said that the kiln is broken and cracked?",)),
    ],
)
def test_a_follow_up_is_completed(asked: str, whole: str) -> None:
    assert rewrite_query(asked, HISTORY).question == whole
    assert rewrite_query(f" {asked}  ", ()).question == asked


def exchange(question: str, answer: str) -> tuple[ChatTurn, ...]:
    """A question, and what Ada is quoted with."""
    return ChatTurn("user", question), ChatTurn("assistant", f"Ada (2026-02-20 19:40 UTC): “{answer}” [1]")


MILL = exchange("What is the price of the mill rose7?", "The price of the mill rose7 is 40.")
FENCE = exchange("Who builds the fence?", "The fence is built by Nagel on 3 June.")
POOL = exchange("When does the pool open?", "The pool opens at 9 on Mondays.")
OWNER = exchange("Who owns billing?", "Ada owns billing.")
DESKS = exchange("How many desks are in Bergen?", "Bergen has 14 desks.")
FAIR = exchange("When does the craft fair take place?", "The craft fair takes place on 2 May.")
KILN = exchange("¿Cuánto cuesta el Horno Rubí?", "El Horno Rubí cuesta 70 euros.")
REPLACED = (
    ChatTurn("user", "Who owns the login?"),
    ChatTurn("assistant", "- Until 2026-03-01: Ada (2026-02-20 19:40 UTC): “The login is owned by nobody.” [1]"),
)
SAW = exchange("Was kostet die Säge Bora?", "Die Säge Bora kostet 90 Euro.")
PRESS = exchange("窯ホムラの価格は？", "窯ホムラの価格は9万円です。")
CARE = exchange("How do I care for the mill wheel?", "Grease it, says the Rood Vintage Journal in Southeast Ghent.")
TOOL = exchange("What is the name of the new tool?", "The new tool is Voltara.")
ROOF = exchange("What did we decide about the roof?", "We take slate from Krone GmbH, says the Rood Journal.")
TOIT = exchange("Qui livre le toit ?", "Krone GmbH livre l'ardoise.")
TEJADO = exchange("¿Quién entrega el tejado?", "Krone GmbH entrega la pizarra.")
LEAD = exchange("Who leads the Falcon project?", "Falcon is led by Hanna Karim.")


@pytest.mark.parametrize(
    ("history", "asked", "carried"),
    [
        # A subject of its own replaces the former one, an attribute of its own the former attribute.
        (MILL, "and what about the price of the pump oak6?", ""),
        (MILL, "and the pump oak6?", "price"),
        (MILL, "what about the owner?", "mill, rose7"),
        (MILL, "and for groups?", "mill, rose7, price"),
        (FENCE, "what about the gate?", "builds"),
        (FENCE, "and the price?", "fence"),
        (MILL, "und wie hoch ist die Miete?", "mill, rose7"),
        (SAW, "was ist da los?", "Säge Bora"),
        (SAW, "ab wann ist da Sprechstunde?", "Säge Bora"),
        (SAW, "wann ist da jemand im Lager", ""),
        (SAW, "Wo sind da Parkplätze am Bahnhof", ""),
        (exchange("Who paints the small gate?", "Nagel paints it."), "and the large one?", "paints, gate"),
        (exchange("Who paints the mill gate?", "Nagel paints it."), "what about the pier one?", "paints, gate"),
        (FENCE, "since when?", "fence, builds"),
        (FENCE, "how much does it cost?", "Nagel, fence"),
        (POOL, "and the sauna?", "when, open"),
        (MILL, "where was it bought?", "mill, rose7"),
        (MILL, "who sharpens it?", "mill, rose7"),
        (DESKS, "and in Oslo?", "desks"),
        (LEAD, "no, I mean Heron", "leads, project"),
        (LEAD, "nein, ich meine Heron", "leads, project"),
        (SAW, "und der Hobel Puma?", "kostet"),
        (FAIR, "and the book market?", "when, place"),
        (FAIR, "no, the book market", "when, place"),
        (KILN, "¿y quién es la dueña?", "Horno Rubí"),
        (SAW, "und wer schärft sie?", "Säge Bora"),
        (PRESS, "炉カガリは？", "価格"),
        (REPLACED, "its deadline?", "login"),
        (PRESS, "担当は？", "窯ホムラ"),
        (POOL, "and on Sundays?", "pool, open"),
        (LEAD, "and the Heron project?", "leads"),
        (LEAD, "and the deadline?", "Falcon"),
        (LEAD, "who is Hanna?", ""),
        (OWNER, "and shipping?", "owns"),
        # What stands before the question says nothing about its subject, but may name it.
        (FENCE, "Really? What about the gate?", "builds"),
        (FENCE, "Ada called. When does she come?", ""),
        (MILL, "What is the difference between the two?", "mill, rose7"),
        # Names that an answer mentions in passing are not what is asked of.
        (CARE, "How much does it cost?", "mill"),
        # The answer's own name, if it was asked for, or for those who act.
        (TOOL, "What does it cost?", "Voltara, new"),
        (ROOF, "When do they deliver it?", "Krone GmbH, roof"),
        (ROOF, "What does it cost?", "roof"),
        (TOIT, "Quand livrent-ils ?", "Krone GmbH, toit"),
        (ROOF, "Which slates do they bring?", "Krone GmbH, roof"),
        (TEJADO, "¿Cuándo entregan?", "Krone GmbH, tejado"),
        # Not for those whom the question names, and nothing for a pronoun that stands for nothing.
        (ROOF, "Which tenants have paid their rent for it?", "roof"),
        (ROOF, "Which tenants have paid their rent?", ""),
        (TOIT, "Comment faut-il déclarer une absence ?", ""),
        (TOIT, "Y a-t-il une piscine à Dijon ?", ""),
        (ROOF, "Is it possible to rent a canoe?", ""),
        (KILN, "¿Hay taquillas en la estación?", ""),
        (KILN, "¿La biblioteca cierra los lunes?", ""),
        (KILN, "¿Está abierto?", "Horno Rubí"),
        (KILN, "¿Desde cuándo?", "Horno Rubí, cuesta"),
        (SAW, "Welche Farbe hat sie?", "Säge Bora"),
        (SAW, "Gibt es ein Bild davon?", "Säge Bora"),
        (PRESS, "駅にロッカーはありますか？", ""),
        (PRESS, "いくらですか？", "窯ホムラ"),
        ((*MILL, *exchange("and the pump?", "The price of the pump is 480.")), "and the ladder?", "price"),
        ((*MILL, *exchange("and the pump?", "The price of the pump is 480.")), "and the owner?", "pump"),
    ],
)
def test_only_what_a_follow_up_lacks_is_carried_and_never_who_is_quoted(
    history: tuple[ChatTurn, ...], asked: str, carried: str
) -> None:
    assert rewrite_query(asked, history).question == (f"{asked} ({carried})" if carried else asked)


@pytest.mark.parametrize(
    ("history", "whole"),
    [(FENCE, "where does Nagel live?"), (LEAD, "where does Hanna Karim live?"), (POOL, "where does Ada live?")],
)
def test_a_pronoun_means_whom_the_answer_names_before_whom_it_quotes(history: tuple[ChatTurn, ...], whole: str) -> None:
    assert rewrite_query("where does he live?", history).question == whole


@pytest.mark.parametrize(
    ("former", "asked", "whole"),
    [
        ("Never mind. What does the pump in Oslo cost?", "And in Bergen?", "And in Bergen? (pump, cost)"),
        ("Wow, I’ve seen that. What does the pump cost?", "And the fence?", "And the fence? (cost)"),
        ("I don't know. What does the pump in Oslo cost?", "Why?", "Why? (Oslo, pump, cost)"),
        ("I like the Gudgeon. When does it leave?", "And from where?", "And from where? (Gudgeon, leave)"),
    ],
)
def test_remarks_before_the_former_question_are_not_carried_over(former: str, asked: str, whole: str) -> None:
    assert rewrite_query(asked, exchange(former, "It is so.")).question == whole


def test_a_pronoun_means_who_is_new_in_the_answer() -> None:
    history = exchange("Who leads project Falcon?", "Project Falcon is led by Hanna Karim.")
    assert rewrite_query("in which town does she live?", history).question == "in which town does Hanna Karim live?"


@pytest.mark.parametrize("asked", ["back to the mill: who owns it?", "ok, zurück zur mill: who owns it?"])
def test_a_question_goes_back_to_a_former_topic(asked: str) -> None:
    assert rewrite_query(asked, (*MILL, *FENCE)).question == "who owns it? (mill, rose7)"


@pytest.mark.parametrize(
    ("former", "asked", "completed"),
    [
        ("Quand ouvre le refuge de Brest ?", "et le refuge de Dijon ?", "et le refuge de Dijon ? (quand, ouvre)"),
        ("¿Cuándo abre el taller de lana?", "¿y el de barro?", "¿y el de barro? (cuándo, abre, taller)"),
        ("Quando abre a oficina de barro?", "e a de lã?", "e a de lã? (quando, abre, oficina)"),
        ("Wo hängt der Schlüssel vom Boot?", "und der vom Karren?", "und der vom Karren? (wo, hängt, Schlüssel)"),
        (
            "When does the course of weaving start?",
            "and the course of dyeing?",
            "and the course of dyeing? (when, start)",
        ),
        (
            "Combien coûte la location du hangar de Brest ?",
            "et celui de Dijon ?",
            "et celui de Dijon ? (combien, coûte, location, hangar)",
        ),
        (
            "Combien coûte la location de la salle de Brest ?",
            "et celle de Dijon ?",
            "et celle de Dijon ? (combien, coûte, location, salle)",
        ),
        ("¿Cuándo empieza el curso de cerámica?", "¿y la biblioteca?", "¿y la biblioteca? (cuándo, empieza)"),
        ("Combien coûte la barque ?", "et elle part quand ?", "et elle part quand ? (barque)"),
        ("Combien coûte le four ?", "il arrive quand ?", "il arrive quand ? (four)"),
        ("窯を直すのは誰ですか？", "料金は？", "料金は？ (窯)"),
        ("窯を直すのは誰ですか？", "井戸は？", "井戸は？ (直すのは誰)"),
    ],
)
def test_another_owner_of_the_same_noun_is_asked_the_same(former: str, asked: str, completed: str) -> None:
    assert rewrite_query(asked, (ChatTurn("user", former), ChatTurn("assistant", "“…” [1]"))).question == completed


@pytest.mark.long
@pytest.mark.parametrize(
    "text", ["back to " * 20_000, "and " * 20_000, "the " * 20_000, "of the " * 10_000, "(" * 50_000]
)
def test_a_long_follow_up_takes_no_long_time(text: str) -> None:
    rewrite_query(text, MILL)


@pytest.mark.parametrize(
    ("question", "high", "low"),
    [
        (
            "Does Hanna Karim rent locker L-19 for photography?",
            ("rent", "locker"),
            ("Hanna Karim", "L-19", "photography"),
        ),
        ("How much is a ticket?", ("ticket",), ("ticket",)),
        ("?", (), ()),
    ],
)
def test_low_keywords_are_names_and_rare_words(question: str, high: tuple[str, ...], low: tuple[str, ...]) -> None:
    assert extract_keywords(question) == (high, low)
