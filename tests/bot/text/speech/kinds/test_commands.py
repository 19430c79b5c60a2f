from __future__ import annotations

import pytest

from bot.text.speech.kinds.commands import is_command


@pytest.mark.parametrize("text", ["stop", "Stop!", "/help", "!ask", "/report off", "/forget-me", "arrête", "止めて"])
def test_words_that_stop_and_typed_commands_are_commands(text: str) -> None:
    assert is_command(text)


@pytest.mark.parametrize("text", ["stop the pump", "1/2 cup", "! careful", "", "!important: gate", "/etc/hosts is new"])
def test_other_messages_are_none(text: str) -> None:
    assert not is_command(text)
