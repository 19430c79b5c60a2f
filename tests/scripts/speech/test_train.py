"""The weights that the bot reads are those that the examples teach."""

from __future__ import annotations

import pytest

from bot.text.speech.kinds import passing, weights
from scripts.speech import train


@pytest.mark.long
def test_the_weights_are_what_the_examples_teach() -> None:
    assert train.learn_kinds(train.make_all()) == weights.FILE.read_text(encoding="utf-8").splitlines()
    assert train.learn_manners(train.make_all_mentions()) == passing.FILE.read_text(encoding="utf-8").splitlines()
