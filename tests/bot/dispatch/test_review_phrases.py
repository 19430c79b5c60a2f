from __future__ import annotations

import pytest

from bot.dispatch.reply_policy import parse_command_name, parse_review_command


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("verify", ("verify", "")),
        ("Verify this answer!", ("verify", "")),
        ("verify https://x.example/m1", ("verify", "https://x.example/m1")),
        ("take <https://x.example/m1> as the answer", ("verify", "<https://x.example/m1>")),
        ("Correction: On Friday.\nAt noon.", ("correct", "answer On Friday.\nAt noon.")),
        ("verify whether the roof is safe", None),
        ("take it", None),
        ("correct me if I am wrong: is it safe?", None),
        ("", None),
    ],
)
def test_only_plain_requests_are_commands(text: str, command: tuple[str, str] | None) -> None:
    assert parse_review_command(text) == command


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("/status", "status"),
        ("!Status now", "status"),
        ("/threadlore stauts please", "stauts"),
        ("/threadlore", "help"),
        ("/etc/hosts", ""),
        ("what does /status show", ""),
        ("/ or", ""),
    ],
)
def test_a_message_names_a_command_as_people_type_them(text: str, name: str) -> None:
    assert parse_command_name(text, "/threadlore ") == name
