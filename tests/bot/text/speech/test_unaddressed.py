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
        *((text, True) for text in ["makes sense. price of the pump in May", "told her. the link again"]),
        *((text, True) for text in ["wait which gate", "asked Krone when", "lo hago cuándo", "je fais comment"]),
        *((text, True) for text in ["seems expensive why", "lunch menu", "done list", "wait times may"]),
        ("one minute summary", True),
        *((text, False) for text in ["thanks. will do", "mach ich. danke", "one moment please", "einen Moment bitte"]),
        *((text, False) for text in ["ok. told her", "sounds good. lunch", "quel dommage", "je regarde demain"]),
        *((text, False) for text in ["un instant s'il te plaît", "un momento por favor", "just wait"]),
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
