from __future__ import annotations

import pytest

from bot.text.speech.unaddressed import asks_bot


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("can you post the list as well", True),
        ("dame más detalles", True),
        ("hm, I thought it was May?", True),
        *(
            (text, False)
            for text in (
                "I bring the ladder.",
                "stop it",
                "then I tell the roofer",
                "ok, will pass it on",
                "perfect, thx!",
            )
        ),
    ],
)
def test_what_is_said_to_the_bot_alone_asks_it_only_clearly(text: str, *, asks: bool) -> None:
    assert asks_bot(text) is asks
