from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.llm.offline.model import NOTHING_FOUND, ONLY_QUOTES, OfflineModel
from engine.models import ChatTurn, Context, Excerpt, Prompt, SearchQuery, SummaryInput
from engine.usage import UsageMeter
from tests.engine.llm.offline.sources import source
from tests.support.fake_embedder import HashEmbedder

if TYPE_CHECKING:
    from engine.models import RetrievalMode

WORKSHOP = [
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
]


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> OfflineModel:
    return OfflineModel(MiniLMEmbedder(tmp_path_factory.mktemp("cache")))


def prompt(question: str, texts: list[str], mode: RetrievalMode = "mix") -> Prompt:
    sources = tuple(source(number, text) for number, text in enumerate(texts, 1))
    return Prompt(question, Context(SearchQuery(question), mode, sources=sources))


async def answered(language: OfflineModel, asked: Prompt) -> str:
    return "".join([piece async for piece in language.answer(asked, UsageMeter())])


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("How long may members with a night badge stay?", "until midnight.” [1]"),
        ("What must never be put into the laser cutter?", "PVC must never be cut"),
        ("How hot does the kiln get?", "1,280 degrees"),
        ("What is the price of a firing?", "11 euros"),
        ("How tall is the chimney?", "23 metres"),
        ("Why did the server fail to copy last night?", "the disk was full.” [12]"),
    ],
)
async def test_what_answers_is_quoted_with_its_number(language: OfflineModel, question: str, quoted: str) -> None:
    text = await answered(language, prompt(question, WORKSHOP))
    assert text.startswith(("“", "- ", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    assert "From the sources" not in text
    assert quoted in text
    assert text.count("\n- ") <= 4


@pytest.mark.parametrize(
    "question",
    [
        "Which dentist do members of the Brickyard go to?",
        "What is the phone number of Marta Ilves?",
        "When is the birthday of Anselm Brody?",
        "What insurance covers the laser cutter?",
        "Is there a sauna in the building?",
        "Who rents locker L-33?",
    ],
)
async def test_what_no_source_speaks_of_is_not_answered(language: OfflineModel, question: str) -> None:
    assert await answered(language, prompt(question, WORKSHOP)) == NOTHING_FOUND


async def test_a_double_question_is_answered_from_two_sources(language: OfflineModel) -> None:
    question = "Who rents locker L-19, and what did the tenant of locker L-19 promise to do before the open day?"
    text = await answered(language, prompt(question, WORKSHOP))
    assert "“Locker L-19 is rented by Hanna Karim.” [4]" in text
    assert "Hanna Karim (2026-02-20 19:40 UTC): “As tenant of locker L-19 I promise to return twelve brushes" in text


async def test_the_newer_source_comes_first_when_both_answer(language: OfflineModel) -> None:
    told = (
        "[2026-01-01 08:00] Bo: The open day is on 12 April.",
        "[2026-02-01 08:00] Bo: The open day is on 26 April.",
    )
    text = await answered(language, prompt("When is the open day?", list(told)))
    assert text.index("26 April") < text.index("12 April")


async def test_an_answer_comes_in_small_pieces(language: OfflineModel) -> None:
    pieces = [piece async for piece in language.answer(prompt("How tall is the chimney?", WORKSHOP), UsageMeter())]
    assert len(pieces) > 5
    assert max(map(len, pieces)) < 40


async def test_without_sources_nothing_was_found_and_without_a_context_nothing_can_be_quoted() -> None:
    language = OfflineModel(HashEmbedder())
    assert await answered(language, prompt("How tall is it?", [])) == NOTHING_FOUND
    assert await answered(language, prompt("How tall is it?", [], mode="bypass")) == ONLY_QUOTES


async def test_the_standalone_question_is_what_is_answered() -> None:
    asked = prompt("What about it?", WORKSHOP)
    context = Context(SearchQuery("How high is the chimney?"), "mix", sources=asked.context.sources)
    assert "chimney" in await answered(OfflineModel(HashEmbedder()), Prompt("What about it?", context))


def test_the_name_tells_rules_and_embedder() -> None:
    assert OfflineModel(HashEmbedder(64)).name.startswith("embedded-1.")
    assert OfflineModel(HashEmbedder()).name.endswith(HashEmbedder().name)


def test_the_key_of_a_reading_depends_on_text_and_section_and_on_nothing_else() -> None:
    one, other = OfflineModel(HashEmbedder(64)), OfflineModel(HashEmbedder(32))
    keys = {
        one.extraction_key(Excerpt(text, section)) for text, section in [("ab", "c"), ("a", "bc"), ("a", ""), ("", "a")]
    }
    assert len(keys) == 4
    assert one.extraction_key(Excerpt("ab", "c")) == other.extraction_key(Excerpt("ab", "c"))


async def test_reading_condensing_and_summarising_take_no_call() -> None:
    language, bill = OfflineModel(HashEmbedder()), UsageMeter()
    reading = await language.extract(Excerpt("We met Hanna Karim in Skelby."), bill)
    condensed = await language.rewrite_query("And her brother?", [ChatTurn("user", "Who is Hanna Karim?")], bill)
    [summary] = await language.summarize([SummaryInput("Hanna Karim", ("She paints. She sells.", "She paints."))], bill)
    assert [mention.name for mention in reading.mentions] == ["Hanna Karim", "Skelby"]
    assert condensed.question == "And Hanna Karim's brother?"
    assert summary == "She paints. She sells."
    assert bill.items == []


def test_the_messages_are_those_that_a_model_would_be_sent() -> None:
    messages = OfflineModel(HashEmbedder()).build_answer_messages(prompt("How tall is it?", WORKSHOP))
    assert messages[-1].content == "How tall is it?"
    assert "The chimney is 23 metres high." in messages[0].content
