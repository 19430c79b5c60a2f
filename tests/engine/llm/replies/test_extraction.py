from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from engine.errors import NothingGiven
from engine.llm.client.protocol import CallObservers
from engine.llm.formats.outcomes import Outcome
from engine.llm.replies.extraction import split_text
from engine.models import Excerpt, Extraction, Link, Mention
from engine.usage import Purpose, UsageMeter
from tests.engine.llm.stub_provider import REFUSED, StubProvider
from tests.support.openai_server import Fault

END = "<|COMPLETE|>"
EXCERPT = Excerpt("Ulla tends the lock.", "River")
ULLA = Mention("Ulla", "person", "Ulla tends the lock.")
LOCK = Mention("Lock", "location", "The lock is narrow.")
TENDS = Link("Ulla", "Lock", "care", "Ulla tends the lock.")
ULLA_ROW = "entity<|#|>Ulla<|#|>Person<|#|>Ulla tends the lock."
LOCK_ROW = "entity<|#|>Lock<|#|>Location<|#|>The lock is narrow."
TENDS_ROW = "relation<|#|>Ulla<|#|>Lock<|#|>care<|#|>Ulla tends the lock."
OBJECT = {"entities": [{"name": "Ulla", "type": "Person", "description": "Ulla tends the lock."}], "relationships": []}
NOTHING = ["Please provide the text.", "null", "```python\nimport spacy\n```", "### Summary\nA lock.", ""]
LONG = Excerpt("Ulla tends the lock. " * 30)


def is_asked_for_json(messages: Sequence[Mapping[str, Any]]) -> bool:
    return "as JSON" in messages[0]["content"]


@pytest.fixture
def outcomes(stub: StubProvider) -> list[tuple[Purpose, Outcome]]:
    seen = list[tuple[Purpose, Outcome]]()
    stub.client.observers = CallObservers(outcome=lambda purpose, outcome: seen.append((purpose, outcome)))
    return seen


@pytest.mark.parametrize("nothing", NOTHING)
async def test_a_reply_that_gives_nothing_is_tried_again_alone(stub: StubProvider, nothing: str) -> None:
    stub.reply(nothing, f"{ULLA_ROW}\n{END}")
    assert await stub.language(gleaning="off").extract(EXCERPT, UsageMeter()) == Extraction((ULLA,))
    assert stub.request_count == 2


@pytest.mark.parametrize("nothing", NOTHING)
async def test_then_in_the_other_format(
    stub: StubProvider, nothing: str, outcomes: list[tuple[Purpose, Outcome]]
) -> None:
    stub.server.replier = lambda messages: json.dumps(OBJECT) if is_asked_for_json(messages) else nothing
    assert await stub.language(gleaning="off").extract(EXCERPT, UsageMeter()) == Extraction((ULLA,))
    assert stub.request_count == 3
    assert outcomes[-1] == ("extract", Outcome.FACTS)
    assert Outcome.NONE not in {outcome for _, outcome in outcomes}
    stub.server.replier = lambda messages: nothing if is_asked_for_json(messages) else f"{ULLA_ROW}\n{END}"
    language = stub.language(gleaning="off", extraction_format="json")
    assert await language.extract(EXCERPT, UsageMeter()) == Extraction((ULLA,))


async def test_a_model_that_gives_nothing_is_an_error_with_its_words(
    stub: StubProvider, outcomes: list[tuple[Purpose, Outcome]]
) -> None:
    stub.reply("I'm sorry, but I can't assist with that.")
    with pytest.raises(NothingGiven, match="stub gave nothing for this text: “I'm sorry, but") as caught:
        await stub.language().extract(EXCERPT, UsageMeter())
    assert caught.value.outcome == Outcome.REFUSED
    assert outcomes == [("extract", Outcome.REFUSED)] * 3


async def test_a_refusal_of_the_provider_is_tried_again_too(stub: StubProvider) -> None:
    stub.reply(f"{ULLA_ROW}\n{END}")
    stub.fail(REFUSED)
    assert await stub.language(gleaning="off").extract(EXCERPT, UsageMeter()) == Extraction((ULLA,))


@pytest.mark.parametrize("reply", [END, f"No entities found.\n{END}", '{"entities": [], "relationships": []}'])
async def test_a_reply_that_states_none_needs_no_other_call(
    stub: StubProvider, reply: str, outcomes: list[tuple[Purpose, Outcome]]
) -> None:
    stub.reply(reply)
    assert await stub.language().extract(EXCERPT, UsageMeter()) == Extraction()
    assert outcomes == [("extract", Outcome.NONE)]


async def test_the_rest_of_a_reply_that_was_cut_off_is_asked_for(stub: StubProvider) -> None:
    stub.reply(f"{ULLA_ROW}\nentity<|#|>Lock<|#|>Location<|#|>The lo", f"{LOCK_ROW}\n{TENDS_ROW}\n{END}")
    stub.fail(Fault("length"))
    found = await stub.language(gleaning="off").extract(EXCERPT, UsageMeter())
    assert found == Extraction((ULLA, LOCK), (TENDS,))
    assert stub.messages(1)[2]["content"] == ULLA_ROW.replace("Person", "person")


async def test_so_is_that_of_an_object(stub: StubProvider) -> None:
    cut = json.dumps({"entities": [*OBJECT["entities"], {"name": "Lock", "type": "Location", "description": "The"}]})
    stub.reply(cut[:-4], json.dumps({"entities": [], "relationships": []}))
    stub.fail(Fault("length"))
    language = stub.language(gleaning="off", extraction_format="json")
    assert await language.extract(EXCERPT, UsageMeter()) == Extraction((ULLA,))
    assert stub.request_count == 2


async def test_a_text_whose_reply_is_cut_off_again_is_halved(stub: StubProvider) -> None:
    cut = f"{ULLA_ROW}\nentity<|#|>Lo"
    stub.reply(cut, cut, f"{LOCK_ROW}\n{END}", f"{TENDS_ROW}\n{END}")
    stub.fail(Fault("length"), 2)
    found = await stub.language(gleaning="off").extract(LONG, UsageMeter())
    assert found == Extraction((ULLA, LOCK), (TENDS,))


async def test_what_stays_cut_off_is_kept_and_named(stub: StubProvider) -> None:
    stub.reply(f"{ULLA_ROW}\nentity<|#|>Lo")
    stub.server.outage = Fault("length")
    for excerpt in (EXCERPT, LONG):
        found = await stub.language(gleaning="off").extract(excerpt, UsageMeter())
        assert found.mentions == (ULLA,)
        assert "cut off" in found.missing


async def test_an_excerpt_of_a_shared_call_that_gave_nothing_is_extracted_alone(stub: StubProvider) -> None:
    replies = ULLA_ROW, "I see no text here.", "none", "", "", "None."
    stub.reply("\n".join((*(f"excerpt<|#|>{n}\n{each}" for n, each in enumerate(replies, 1)), END)))
    others = [Excerpt(text) for text in ("Rye.", "Oats.", "Barley.", "Spelt.", "Hops.")]
    found = await stub.language(gleaning="off").extract_batch([EXCERPT, *others], UsageMeter())
    assert found == [Extraction((ULLA,)), None, Extraction(), None, None, Extraction()]


@pytest.mark.parametrize(("mode", "calls"), [("off", 1), ("auto", 1), ("always", 2)])
async def test_the_second_pass_is_a_choice(stub: StubProvider, mode: str, calls: int) -> None:
    stub.reply(f"{ULLA_ROW}\n{END}")
    await stub.language(gleaning=mode, gleaning_threshold=2).extract(EXCERPT, UsageMeter())
    assert stub.request_count == calls


def test_a_text_is_halved_where_a_paragraph_or_sentence_ends() -> None:
    paragraphs = "First. " * 40 + "\n\n" + "Second. " * 40
    assert split_text(paragraphs) == (("First. " * 40).strip(), ("Second. " * 40).strip())
    assert "".join(split_text("x" * 1000)) == "x" * 1000
    assert split_text("short") == ()
