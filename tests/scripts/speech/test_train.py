"""The weights that the bot reads are those that the examples teach."""

from __future__ import annotations

import pytest

from bot.text.speech.kinds import weights
from scripts.speech import train


@pytest.mark.long
def test_the_weights_are_what_the_examples_teach() -> None:
    assert train.learn(train.make_all()) == weights.FILE.read_text(encoding="utf-8").splitlines()
