"""What the set-up keeps of a model, its server and its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.setup.models import BASE, KEY, MODEL
from bot.setup.state import SetupState
from engine.clock import SYSTEM_CLOCK
from tests.bot.setup.test_draft import open_draft

OPENAI, ANTHROPIC = "openai/gpt-4o-mini", "anthropic/claude-haiku-4-5"
KEY_TEXT = "sk-proj-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6"


@pytest.fixture
def state(tmp_path: Path) -> SetupState:
    state = SetupState(open_draft(tmp_path), SYSTEM_CLOCK)
    assert state.take_model(OPENAI, KEY_TEXT, "") == {}
    return state


@pytest.mark.parametrize(
    ("model", "base", "key"),
    [
        (OPENAI, "", KEY_TEXT),
        ("openai/gpt-4o", "", KEY_TEXT),
        (ANTHROPIC, "", ""),
        ("openai/own", "http://127.0.0.1:9", ""),
    ],
)
def test_a_key_goes_to_no_other_provider_or_server(state: SetupState, model: str, base: str, key: str) -> None:
    assert state.take_model(model, "", base) == {}
    assert (state.draft.find_value(MODEL), state.draft.find_value(BASE)) == (model, base)
    assert state.draft.find_value(KEY) == key


def test_without_a_model_neither_key_nor_server_is_written(state: SetupState) -> None:
    state.take_model("", "", "")
    assert {state.draft.find_value(name) for name in (MODEL, KEY, BASE)} == {""}
