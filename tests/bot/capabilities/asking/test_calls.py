"""What greets, thanks or asks about the bot is replied to at every door; other doors than the chat share this one."""

from __future__ import annotations

import pytest

from bot.answers.introduction import ABOUT_NAME, ABOUT_WEEK, EXAMPLES_HEADING
from bot.capabilities.asking.calls import NOTHING_READ, WELCOME, WHAT_IS_READ, is_call, without_calls
from bot.capabilities.documents.lookup import LOCAL_SPACE, NO_DOCUMENTS_HINT
from bot.capabilities.requests import Ask, AtSpace
from bot.capabilities.results import AnswerDelta, AnswerEnd, ContextResult
from bot.i18n import LANGUAGES, gettext, use_language
from engine.models import ChatTurn
from tests.bot.capabilities.conftest import Perform, last

INTRODUCED = {
    "en": ("What can you do?", "who are you?", "help me", "Are you there?"),
    "de": ("Was kannst du?", "wer bist du?", "hilf mir", "Bist du da?", "Hallo!"),
    "es": ("¿Qué puedes hacer?", "¿quién eres?", "ayuda", "¿estás ahí?", "Hola"),
    "fr": ("Que peux-tu faire ?", "qui es-tu ?", "aide-moi", "tu es là ?", "Bonjour !"),
    "ja": ("何ができますか", "誰ですか", "助けて", "いますか", "こんにちは"),
    "pt": ("O que você pode fazer?", "quem é você?", "ajuda", "você está aí?", "Olá"),
}
THANKED = {
    "en": "Thanks!",
    "de": "Danke dir!",
    "es": "Muchas gracias",
    "fr": "merci",
    "ja": "ありがとう",
    "pt": "Obrigado!",
}


async def reply(perform: Perform, text: str, *history: ChatTurn) -> str:
    delta, end = await perform(AtSpace(LOCAL_SPACE, Ask(text, history=history)))
    assert isinstance(delta, AnswerDelta)
    assert isinstance(end, AnswerEnd)
    assert (end.sources, end.unsearched) == ((), True)
    return delta.text


@pytest.mark.usefixtures("ingested")
@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_question_about_the_bot_is_replied_to_in_its_language(perform: Perform, language: str) -> None:
    with use_language(language):
        expected = [gettext(EXAMPLES_HEADING), gettext(WHAT_IS_READ), gettext(ABOUT_WEEK)]
    for text in INTRODUCED[language]:
        introduced = await reply(perform, text)
        assert [line for line in expected if line not in introduced] == [], text


@pytest.mark.usefixtures("ingested")
async def test_the_examples_are_about_what_the_asker_can_read(perform: Perform) -> None:
    assert ABOUT_NAME.partition("{")[0] in await reply(perform, "What can you do?")
    elsewhere = await perform(AtSpace("elsewhere", Ask("What can you do?")))
    [text] = [result.text for result in elsewhere if isinstance(result, AnswerDelta)]
    assert f"{NOTHING_READ} {NO_DOCUMENTS_HINT}" in text
    assert "Gudgeon" not in text


@pytest.mark.usefixtures("ingested")
@pytest.mark.parametrize("language", LANGUAGES)
async def test_thanks_are_replied_to_without_a_search(perform: Perform, language: str) -> None:
    with use_language(language):
        assert await reply(perform, THANKED[language]) == gettext(WELCOME)


@pytest.mark.usefixtures("ingested")
async def test_a_call_that_shows_no_language_is_replied_to_in_that_of_the_conversation(perform: Perform) -> None:
    with use_language("de"):
        assert await reply(perform, "ok", ChatTurn("user", "Wann fährt die Fähre ab?")) == gettext(WELCOME)


@pytest.mark.usefixtures("ingested")
async def test_a_question_after_thanks_follows_up_what_was_asked_before(perform: Perform) -> None:
    turns = (ChatTurn("user", "When does the Gudgeon leave?"), ChatTurn("assistant", "At noon [1]."))
    thanks = (ChatTurn("user", "thanks!"), ChatTurn("assistant", WELCOME))
    assert without_calls((*turns, *thanks)) == turns
    asked = Ask("And who sells tickets for it?", output="context", history=(*turns, *thanks))
    found = last(await perform(AtSpace(LOCAL_SPACE, asked)), ContextResult)
    assert "Gudgeon" in found.context.question.question


@pytest.mark.parametrize("text", ["Who repairs the roof?", "thanks, but who pays?", "the gate code is 47", "Tea?", ""])
def test_other_texts_are_no_calls(text: str) -> None:
    assert not is_call(text)
