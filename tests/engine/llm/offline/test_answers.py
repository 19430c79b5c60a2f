"""Answers by quotation: which sentences are chosen, with what beside them, and when nothing is found."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from engine.llm.checked_embedder import wrap_embedder
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.model import NOTHING_FOUND, OfflineModel
from engine.llm.offline.quotes import Quotation, build_quotations, render_quotations, select_answers
from engine.llm.offline.quoting.notices import CLOSEST
from engine.llm.offline.ranking import MAX_CANDIDATES, build_terms, rank_sentences
from engine.models import Context, Prompt, RetrievalMode, SearchQuery
from engine.text.similarity import SimilarityScale
from engine.usage import UsageMeter
from tests.engine.llm.offline.sources import source
from tests.support.fake_embedder import CachingEmbedder, HashEmbedder, TwoWayEmbedder

WORKSHOP = (
    "The Brickyard is open from 8:00 to 22:00 on weekdays. Members with a night badge may stay until midnight.",
    "The laser cutter takes sheets of 900 by 600 millimetres. PVC must never be cut, because it gives off chlorine.",
    "Locker L-07 is rented by Piotr Wrona until March.",
    "Locker L-19 is rented by Hanna Karim. It may hold paints.",
    "The open day is to be held on Saturday 12 April. The budget is 600 euros.",
    "The new kiln reaches 1,280 degrees. A firing takes fourteen hours and costs the user 11 euros.",
    "The chimney is 23 metres high. It was struck by lightning in 1962.",
    "Tuesdays from six, Ingrid Sabo shows beginners how a chair is upholstered.",
    "[2026-02-17 08:45] Marta Ilves: The board has moved the open day to 26 April, because the street is closed.",
    "[2026-02-20 19:40] Hanna Karim: As tenant of locker L-19 I promise to return twelve brushes before the open day.",
    "[2026-02-24 07:58] Anselm Brody: The lock of the side gate is frozen. Use the front today.",
    "[2026-03-04 20:10] Piotr Wrona: The server failed to copy last night, the disk was full.",
)
ANSWERS = f"""
How long may members with a night badge stay? => until midnight.” [1]
What must never be put into the laser cutter? => PVC must never be cut
How hot does the kiln get? => 1,280 degrees
What is the price of a firing? => 11 euros
How tall is the chimney? => 23 metres
Why did the server fail to copy last night? => the disk was full.” [12]
Who rents locker L-19, and what did the tenant promise? => “Locker L-19 is rented by Hanna Karim.” [4]
What did the tenant of locker L-19 promise? => Hanna Karim (2026-02-20 19:40 UTC): “As tenant of
Which dentist do members of the Brickyard go to? => {CLOSEST}
What is the phone number of Marta Ilves? => {NOTHING_FOUND}
When is the birthday of Anselm Brody? => {NOTHING_FOUND}
What insurance covers the laser cutter? => {CLOSEST}
Is there a sauna in the building? => {NOTHING_FOUND}
Who rents locker L-33? => I found nothing about “L-33”. The closest I found:
Does the Brickyard rent bicycles? => I found nothing about “Brickyard”. The closest I found:
"""
# Question, texts, what is quoted, what is not.
CHOICES = f"""
What is Bo's wage from May on?
[2026-03-01 10:00] Ada: For the two of us only: Bo's wage rises to 4,150 a month from May on.
[2026-03-01 10:01] Bo: Thank you, Ada. I will not tell anybody.
4,150
Thank you

How much does a lift of the crane cost and who may operate it?
A lift of the crane costs €25. Only licensed drivers may work it; these are Ada Byron and Bo Holm.
Ada Byron
- “

When is the archive open, and what is the entrance fee?
The archive is open on Fridays from two until four. Admission is free.
Admission is free
- “

Who is the harbour master?
The harbour master answers within two weeks.
Kept by the harbour master, Ada Byron.
Ada Byron
two weeks

Who is the skipper of the Patient Agnes?
The skipper of the Patient Agnes likes herring.
The Patient Agnes sails at noon. Skipper: Bo Holm.
Bo Holm
herring

How many kites did Lumen Sports order?
[2026-03-01 10:00] Ada: Lumen Sports ordered 400 Delta kites, to be delivered on 14 April.
[2026-03-01 10:01] Bo: Hanako Textiles will send us the nylon for the Lumen order on 2 March.
400
nylon

Why is the town clock slow?
The town clock is four minutes slow. It stays so because Bo asked.
slow. It stays so because Bo asked.” [1]
- “

How do I phone the bakery?
The bakery is open on Fridays.
The bakery on Quay Street. Telephone: ask for 322.
322
Fridays

Which permit expires at the end of 2026?
Permit 9-A allows forty racks until 31 December 2026. Permit 9-B allows a boat of wood on the quay.
9-A
9-B

Does the ferry take cars?
Cars stay on the hill. The ferry leaves by the clock.
{CLOSEST}
- “

What happened at the last council meeting?
Next meeting: 9 June.
The council resolved to sand the bench.
The meeting room has a stove.
sand the bench
stove

When is the open day?
[2026-02-01 08:00] Bo: The open day is 26 April.
[2026-01-01 08:00] Bo: The open day is 12 April.
- Bo (2026-02-01
said
"""


def prompt(question: str, texts: tuple[str, ...], mode: RetrievalMode = "mix", title: str = "") -> Prompt:
    sources = tuple(source(number, text, "d", title) for number, text in enumerate(texts, 1))
    return Prompt(question, Context(SearchQuery(question), mode, sources=sources))


@pytest.fixture(scope="module")
def language() -> OfflineModel:
    return OfflineModel(CachingEmbedder(MiniLMEmbedder()))


@pytest.mark.parametrize("line", ANSWERS.strip().splitlines())
async def test_what_answers_is_quoted_with_its_number(language: OfflineModel, line: str) -> None:
    question, _, quoted = line.partition(" => ")
    text = "".join([piece async for piece in language.answer(prompt(question, WORKSHOP), UsageMeter())])
    assert quoted in text
    assert text.count("\n- ") <= 4


@pytest.mark.parametrize("case", CHOICES.strip().split("\n\n"))
async def test_each_rule_of_choice(language: OfflineModel, case: str) -> None:
    question, *texts, right, wrong = case.split("\n")
    for title in ("", "#wages"):
        asked = prompt(question, tuple(texts), title=title)
        text = "".join([piece async for piece in language.answer(asked, UsageMeter())])
        assert right in text
        assert wrong not in text


# Texts, positions of the chosen sentences, what is quoted: a pronoun or a short remark brings the sentence before it,
# but no title; a title brings the text after it; a short answer in a chat comes with its question; equal texts are one.
QUOTED = """
The kiln came on Monday from afar. It gets hot. => 1 => The kiln came on Monday from afar. It gets hot.
The kiln came on Monday. Glazing takes a week and a half. => 1 => Glazing takes a week and a half.
The red kiln came on Monday. Glazing takes all week. => 010 => The red kiln came on Monday. Glazing takes all week.
Sleeping\\This room is above the loft now. => 1 => This room is above the loft now.
- Bread: €3.60\\- Cake: €3.10 | Next meeting\\On 9 June. => 012 => Bread: €3.60; Cake: €3.10 | Next meeting: On 9 June.
[2026-05-12 10:03] Ada: Is it hot now? | [2026-05-12 10:04] Bo: Yes. => 1 => Is it hot now? | Yes.
[2026-05-12 10:03] Ada: Is it hot now? | [2026-05-12 10:03] Ada: Is it hot now? => 0 => Is it hot now?
"""


@pytest.mark.parametrize(
    ("question", "lines", "quoted"),
    [
        ("Who attended the meeting?", "Present: Ada Lind, Bo Park\n\nExcused: Dee Roth", "Present: Ada Lind, Bo Park"),
        ("Who missed the meeting?", "**Present:** Ada Lind, Bo Park\n\n**Apologies:** Dee", "**Apologies:** Dee"),
        (
            "Wer hat an der Sitzung teilgenommen?",
            "Anwesend: Ada Lind, Bo Park\n\nEntschuldigt: Dee Roth",
            "Anwesend: Ada Lind, Bo Park",
        ),
        (
            "Wer fehlte in der Sitzung?",
            "Anwesend: Ada Lind, Bo Park\n\nEntschuldigt: Dee Roth",
            "Entschuldigt: Dee Roth",
        ),
        (
            "¿Quién participó en la reunión?",
            "Asistentes: Ada Lind, Bo Park\n\nAusentes: Dee Roth",
            "Asistentes: Ada Lind, Bo Park",
        ),
        ("¿Quién faltó a la reunión?", "Asistentes: Ada Lind, Bo Park\n\nAusentes: Dee Roth", "Ausentes: Dee Roth"),
        (
            "Qui était absent de la réunion ?",
            "Présents : Ada Lind, Bo Park\n\nExcusés : Dee Roth",
            "Excusés : Dee Roth",
        ),
        (
            "Quem participou da reunião?",
            "Presentes: Ada Lind, Bo Park\n\nAusentes: Dee Roth",
            "Presentes: Ada Lind, Bo Park",
        ),
        ("会議に参加したのは誰？", "出席者: 田中、鈴木\n\n欠席者: 佐藤", "出席者: 田中、鈴木"),
    ],
)
async def test_minutes_say_by_their_labels_who_came(
    language: OfflineModel, question: str, lines: str, quoted: str
) -> None:
    texts = (lines, "We keep the mill.", "The meeting begins at nine.")
    text = "".join([piece async for piece in language.answer(prompt(question, texts), UsageMeter())])
    assert text.startswith(("“", "- “")), "an answer, not what is closest"
    assert quoted in text


SHED = ("倉庫の鍵は受付の机の引き出しにあります。", "下一季度的预算由财务部决定。", "น้ำท่วมทำให้ถนนหน้าตลาดปิดสองวัน")


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("倉庫の鍵はどこにありますか", SHED[0]),
        ("谁决定下一季度的预算？", SHED[1]),
        ("ถนนหน้าตลาดปิดกี่วัน", SHED[2]),
        ("社長の誕生日はいつですか", NOTHING_FOUND),
        ("会议室的密码是什么", NOTHING_FOUND),
    ],
)
async def test_scripts_without_spaces_are_quoted_as_well(language: OfflineModel, question: str, quoted: str) -> None:
    assert quoted in "".join([piece async for piece in language.answer(prompt(question, SHED), UsageMeter())])


@pytest.mark.parametrize("line", QUOTED.strip().splitlines())
def test_what_is_quoted_with_a_sentence(line: str) -> None:
    texts, chosen, quoted = line.replace("\\", "\n\n").split(" => ")
    candidates = build_candidates([source(number, text, "d") for number, text in enumerate(texts.split(" | "), 1)])
    assert [quotation.text for quotation in build_quotations(list(map(int, chosen)), candidates)] == quoted.split(" | ")


def test_a_quotation_names_speaker_and_time_and_cites_nothing_else() -> None:
    said = [Quotation(2, "Yes [1, 3].", "Bo", "2026-05-12 10:04")]
    assert render_quotations(said) == "Bo (2026-05-12 10:04 UTC): “Yes (1, 3).” [2]"


def test_a_quotation_names_the_time_where_the_person_asking_is() -> None:
    said = [Quotation(2, "Yes.", "Bo", "2026-05-12 10:04")]
    assert render_quotations(said, ZoneInfo("Pacific/Auckland")) == "Bo (2026-05-12 22:04): “Yes.” [2]"
    hostile = [Quotation(2, "Yes.", "Bo", "2026-13-99 99:99")]
    assert render_quotations(hostile, ZoneInfo("Pacific/Auckland")) == "Bo (2026-13-99 99:99 UTC): “Yes.” [2]"


def test_rare_words_weigh_more_than_frequent_and_generic_ones() -> None:
    candidates = build_candidates([source(1, "The boat of Ada sails."), source(2, "The boat of Bo sails.")])
    weights = {term.stem: term.weight for term in build_terms("Which boat of Ada gets a new rudder?", candidates)}
    assert weights["rudder"] > weights["ada"] > weights["boat"] > weights["new"]


async def test_few_sentences_are_embedded_however_many_there_are() -> None:
    embedder = wrap_embedder(inner := HashEmbedder())
    embedder.recall_scale(SimilarityScale())
    sources = [source(number, f"Sentence {number} speaks of boat{number}.") for number in range(1, 600)]
    candidates, clauses = await rank_sentences("Who speaks of boat571?", sources, embedder, UsageMeter())
    assert [candidates[at].source.number for at in select_answers(candidates, clauses)] == [571]
    assert len(inner.texts) <= MAX_CANDIDATES + 1
    assert select_answers(*await rank_sentences("Who is it?", [source(1, "---")], embedder, UsageMeter())) == []


async def test_the_question_is_embedded_as_a_question_and_sentences_as_texts() -> None:
    embedder = wrap_embedder(inner := TwoWayEmbedder())
    embedder.recall_scale(SimilarityScale())
    await rank_sentences("Who rows the boat?", [source(1, "Ada rows it.")], embedder, UsageMeter())
    assert inner.asked == ["Who rows the boat?"]
    assert inner.texts
    assert not any("Who rows" in text for text in inner.texts)
