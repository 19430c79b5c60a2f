from __future__ import annotations

import pytest

from bot.text.speech.unaddressed import asks_bot


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("can you post the list as well", True),
        ("dame más detalles", True),
        ("hm, I thought it was May?", True),
        *((text, True) for text in ["the price of the pump", "gate code", "need the link", "mehr davon", "もっと短く"]),
        *(
            (text, False)
            for text in (
                "I bring the ladder.",
                "stop it",
                "then I tell the roofer",
                "ok, will pass it on",
                "perfect, thx!",
                *["will do", "brb", "one moment", "sounds expensive", "told her", "too bad", "hold on a sec"],
                *[
                    "mach ich",
                    "sag ich ihm",
                    "schade",
                    "je vérifie",
                    "je regarde",
                    "dommage",
                    "me encargo",
                    "tiene sentido",
                ],
                *["me encargo", "tiene sentido", "que pena", "vou ver", "残念", "後で見ます"],
            )
        ),
    ],
)
def test_what_is_said_to_the_bot_alone_asks_it_only_clearly(text: str, *, asks: bool) -> None:
    assert asks_bot(text) is asks
