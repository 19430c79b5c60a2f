from __future__ import annotations

import pytest

from bot.text.speech.kinds.weights import KINDS, classify, estimate


def test_the_probabilities_of_all_kinds_sum_to_one() -> None:
    chances = estimate("who has the key", {"rules: question"})
    assert len(chances) == len(KINDS)
    assert sum(chances) == pytest.approx(1)
    assert chances[0] > 0.9


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("weiß jemand ob der Beamer wieder geht", "question"),
        ("alguien sabe dónde está la llave", "question"),
        ("update: migration 90% done, no blockers", "statement"),
        ("on a signé ce matin avec la mairie", "statement"),
        ("muito obrigado!!", "thanks"),
        ("are you still there?", "introduction"),
    ],
)
def test_what_was_learned_decides_without_the_rules(text: str, kind: str) -> None:
    assert classify(text, ()) == kind
