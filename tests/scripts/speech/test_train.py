"""The weights that the bot reads are those that the examples teach."""

from __future__ import annotations

import pytest

from bot.text.speech.kinds import passing, weights
from scripts.speech import train
from scripts.speech.messages import Language


def test_the_examples_of_a_language_depend_on_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    german, english = (
        Language(name, {}, [("question", "{who|what} {a|b|c}"), ("statement", "it is {a|b|c}")])
        for name in ("de", "en")
    )
    monkeypatch.setattr(train, "read_languages", lambda: [german, english])
    together = train.make_all()
    monkeypatch.setattr(train, "read_languages", lambda: [english])
    assert together[-len(train.make_all()) :] == train.make_all()


@pytest.mark.long
def test_the_weights_of_kinds_are_what_the_examples_teach() -> None:
    assert train.learn_kinds(train.make_all()) == weights.FILE.read_text(encoding="utf-8").splitlines()


@pytest.mark.long
def test_the_weights_of_manners_are_what_the_examples_teach() -> None:
    assert train.learn_manners(train.make_all_mentions()) == passing.FILE.read_text(encoding="utf-8").splitlines()
