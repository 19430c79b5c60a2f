"""The offline model as a `LanguageModel`: streamed, without calls, with keys of its rules."""

from __future__ import annotations

from engine.llm.offline.model import NOTHING_FOUND, ONLY_QUOTES, OfflineModel
from engine.models import ChatTurn, Context, Excerpt, Prompt, SearchQuery, SummaryInput
from engine.usage import UsageMeter
from tests.engine.llm.offline.test_answers import WORKSHOP, prompt
from tests.support.fake_embedder import HashEmbedder


async def pieces(asked: Prompt) -> list[str]:
    return [piece async for piece in OfflineModel(HashEmbedder()).answer(asked, UsageMeter())]


async def test_the_standalone_question_is_answered_in_small_pieces() -> None:
    context = Context(SearchQuery("How high is the chimney?"), "mix", sources=prompt("", WORKSHOP).context.sources)
    found = await pieces(Prompt("What about it?", context))
    assert "chimney" in "".join(found)
    assert len(found) > 5
    assert max(map(len, found)) < 40


async def test_without_sources_nothing_was_found_and_without_a_context_nothing_can_be_quoted() -> None:
    assert "".join(await pieces(prompt("How tall is it?", ()))) == NOTHING_FOUND
    assert "".join(await pieces(prompt("How tall is it?", (), mode="bypass"))) == ONLY_QUOTES


def test_names_and_keys_depend_on_rules_embedder_text_and_section() -> None:
    one, other = OfflineModel(HashEmbedder(64)), OfflineModel(HashEmbedder(32))
    parts = [
        Excerpt("ab", "c"),
        Excerpt("a", "bc"),
        Excerpt("a"),
        Excerpt("", "a"),
        Excerpt("", "a", is_conversation=True),
    ]
    assert one.name.startswith("embedded-4.")
    assert one.name.endswith(HashEmbedder().name)
    assert len({one.extraction_key(part) for part in parts}) == len(parts)
    assert one.extraction_key(Excerpt("ab", "c")) == other.extraction_key(Excerpt("ab", "c"))


async def test_reading_condensing_and_summarising_take_no_call() -> None:
    language, bill = OfflineModel(HashEmbedder()), UsageMeter()
    reading = await language.extract(Excerpt("We met Hanna Karim in Skelby."), bill)
    condensed = await language.rewrite_query("And her brother?", [ChatTurn("user", "Who is Hanna Karim?")], bill)
    [summary] = await language.summarize([SummaryInput("Hanna Karim", ("She paints. She sells.", "She paints."))], bill)
    assert [mention.name for mention in reading.mentions] == ["Hanna Karim", "Skelby"]
    assert (condensed.question, summary) == ("And Hanna Karim's brother?", "She paints. She sells.")
    assert bill.items == []


def test_the_messages_are_those_that_a_model_would_be_sent() -> None:
    messages = OfflineModel(HashEmbedder()).build_answer_messages(prompt("How tall is it?", WORKSHOP))
    assert messages[-1].content == "How tall is it?"
    assert "The chimney is 23 metres high." in messages[0].content
