"""Windows of conversations that were stored before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from engine.text.conversations import disentanglement
from engine.text.conversations.disentanglement import ConversationWindows, Utterance

START = datetime(2026, 11, 20, 10, tzinfo=UTC)


def test_only_the_first_message_of_a_stored_window_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared, find_target = list[str](), disentanglement.find_target

    def record(utterance: Utterance, *recent: object) -> Utterance | None:
        compared.append(utterance.id)
        return find_target(utterance, *recent)  # type: ignore[arg-type]

    monkeypatch.setattr(disentanglement, "find_target", record)
    windows = ConversationWindows(timedelta(minutes=15), 1200)
    for number in range(6):
        said = Utterance(str(number), "Ada", "Hello.", START + timedelta(seconds=number))
        windows.restore(said, f"w{number % 2}", 10)
    assert windows.assign(Utterance("6", "Ada", "Bye.", START + timedelta(seconds=6)), 10) == "w1"
    assert compared == ["0", "1", "6"]
