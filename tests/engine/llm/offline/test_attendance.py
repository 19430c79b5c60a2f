"""Who did not come: asked for and said, in each language."""

from __future__ import annotations

import pytest

from engine.llm.offline.attendance import ABSENT, asks_for_absent, list_attendance, says_absent
from engine.llm.offline.questions.analysis import answer_type
from tests.engine.llm.offline.quoting.clauses import read, score

ASKED = """
Who did not attend? | Who didn't attend the council? | Who was absent from the rehearsal?
Who did not show up on 9 May?
Wer hat bei der Probe gefehlt? | Wer war am 9. Mai nicht anwesend? | Wer hat an der Sitzung nicht teilgenommen?
¿Quién no asistió al ensayo? | ¿Quiénes faltaron a la reunión? | ¿Quién estuvo ausente? | Qui était absente lundi ?
Qui n'a pas assisté au conseil ? | Qui n'est pas venu à la répétition ? | Quem não compareceu? | Quem faltou ao ensaio?
誰が欠席しましたか | 会議に出席しなかったのは誰ですか | 谁没参加排练？ | 昨天谁缺席？
"""
OTHERS = """
Who attended? | Who did not sign the lease? | Where did he not come from? | Is the key missing? | Who is missing a key?
Who do I call if I can't attend? | Who missed the ferry? | Who did not attend to the leak? | Who is absent-minded?
Who has the oar that was missing on Tuesday? | Who told Bo that Ada did not attend? | Who was not there for the salt?
Who apologized for the noise? | Wer kommt zur Probe? | Wer hat nicht bezahlt? | Wer zahlt, wenn die Ruder fehlen?
Wer hat den Brand verhindert? | Wer hat die Probe abgesagt? | Wem fehlt ein Ruder? | Wer hat das Salz, das gefehlt hat?
Wer hat bezahlt und nicht teilgenommen? | Wer kann nicht kommen und wer hat den Schlüssel? | ¿Quién vino al ensayo?
¿Quién no firmó? | ¿Quién faltaba por pagar? | ¿Quién avisa si alguien no asistió? | ¿Quién dijo que Bo no vino?
Qui est venu ? | Qui n'a pas payé ? | Qui appeler si on n'est pas venu ? | Qui a la clé qui manquait ?
Quem veio ao ensaio? | Quem não pagou? | Quem tem o remo que não estava na praia? | Quem paga se o barco não vier?
誰が来ましたか | 誰が払いませんでしたか | 本来なら誰が払いますか | 将来は誰が漕ぎますか | 店の休みは誰が決めますか
欠席するときは誰に言いますか | 谁来了？ | 谁没付钱？ | 谁负责未来的计划？ | 谁的票未到期？ | 谁没来得及付钱？
"""
SAID = """
Mira did not attend. | Otto and Mira were absent. | Absent: Otto, Mira | Apologies: Otto | Absent were Otto and Mira.
Abwesend: Sven und Ida | Sven war nicht anwesend. | Sven und Ida waren abwesend. | No asistieron Sven ni Ida.
Sven hat an der Probe nicht teilgenommen. | Sven faltó al ensayo. | Sven n'est pas venu au conseil.
Étaient absents Sven et Ida. | Não compareceram Sven e Ida. | Sven faltou ao ensaio.
スヴェンさんは欠席でした。 | イーダさんは会議に出席しなかった。 | 欠席：イーダ | 斯文没参加会议。 | 伊达缺席了会议。
"""
NOT_SAID = """
Otto and Mira attended. | The salt was absent from the list. | The key is missing. | Missing: salt and two oars
Our apologies for the noise. | Apologies: for the noise | Absent: none | He did not attend to the leak.
The parcel did not show up. | Es fehlten zwei Ruder. | Die Probe ist abgesagt. | Der Schlüssel war nicht anwesend.
Anwesend waren Sven und Ida. | Vinieron Sven e Ida. | Falta sal. | Sven est venu. | Le sel manquait.
Sven e Ida participaram. | Faltou sal. | 店は休みでした。 | 手紙が来ませんでした。 | 将来の計画
スヴェンさんが参加しました。 | 斯文参加了会议。 | 没参加费。 | 未来的计划 | 包裹没来。
"""


def list_texts(table: str) -> list[str]:
    return [text.strip() for line in table.strip().splitlines() for text in line.split(" | ")]


@pytest.mark.parametrize("question", list_texts(ASKED))
def test_questions_for_who_did_not_come_are_known(question: str) -> None:
    assert answer_type(question) == "absence"


@pytest.mark.parametrize("question", list_texts(OTHERS))
def test_other_questions_are_left(question: str) -> None:
    assert not asks_for_absent(question)


@pytest.mark.parametrize("text", list_texts(SAID))
def test_sentences_that_say_who_did_not_come_are_known(text: str) -> None:
    assert says_absent(text)


@pytest.mark.parametrize("text", list_texts(NOT_SAID))
def test_sentences_about_who_came_say_nothing_of_others(text: str) -> None:
    assert not says_absent(text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who did not attend the council?", "The council met on 9 May. Ada and Bo attended. Otto was absent."),
        ("Wer war bei der Probe nicht anwesend?", "Probe vom 9. Mai. Anwesend: Ada und Bo. Abwesend: Otto."),
        ("¿Quién no asistió al ensayo?", "Ensayo del 9 de mayo. Asistieron Ada y Bo. Otto no pudo asistir."),
    ],
)
def test_who_did_not_come_is_said_by_the_sentence_about_that(question: str, text: str) -> None:
    candidates = read(text)
    scores = score(question, candidates)
    assert scores.answer_type == "absence"
    assert "Otto" in candidates[int(scores.score.argmax())].text


def test_who_missed_something_else_is_no_answer() -> None:
    candidates = read("The ferry was late. Otto did not attend.")
    assert score("Who did not attend the council?", candidates).answer_type == "person"
    assert score("Who did not attend?", candidates).answer_type == "absence"
    later = read("Council of 2 May. Otto was absent. The fire drill is on 4 June.")
    assert score("Who did not attend the fire drill?", later).answer_type == "person"


def test_labels_of_minutes_are_read() -> None:
    assert ABSENT in list_attendance("Absent: Ada, Bo")[0]
    assert ABSENT not in list_attendance("Present: Ada, Bo")[0]
    assert list_attendance("Ada rows.") == (frozenset(), frozenset())


@pytest.mark.parametrize(
    "text", ["who not " * 5_000, "wer hat an " * 9_000, "quem não " * 10_000, "谁没" * 20_000, "Ada " * 20_000]
)
def test_a_long_text_takes_no_long_time(text: str) -> None:
    asks_for_absent(text)
    says_absent(text)


@pytest.mark.parametrize(
    "text",
    [
        "缺席的人下周补课。",
        "缺席率是百分之三。",
        "如果缺席，学费不退。",
        "没参加保险的船不能出海。",
        "ミラさんが欠席した場合は延期です。",
    ],
)
def test_a_rule_about_absence_says_of_nobody_that_they_were_absent(text: str) -> None:
    assert not says_absent(text)
