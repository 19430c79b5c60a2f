from __future__ import annotations

import pytest

from bot.text.speech.kinds.introductions import asks_about_bot, is_greeting


@pytest.mark.parametrize("text", ["who am I talking to?", "mit wem rede ich", "¿con quién hablo?", "どなたですか", "?"])
def test_questions_about_the_bot_itself_are_known(text: str) -> None:
    assert asks_about_bot(text)


def test_a_greeting_with_a_question_is_more_than_a_greeting() -> None:
    assert is_greeting("hello bot")
    assert not is_greeting("hello, who pays")
