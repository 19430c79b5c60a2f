from __future__ import annotations

import pytest

from bot.text.speech.unaddressed import asks_bot, is_remark


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


@pytest.mark.parametrize(
    ("text", "remarks"),
    [
        *((text, True) for text in ("Wrong.", "you mixed up the years", "Friday, not Monday", "Bruno said otherwise")),
        *((text, True) for text in ("we moved it to Friday", "No, it is Friday", "that was last year's plan")),
        *((text, True) for text in ("Das stimmt nicht", "Freitag, nicht Montag", "Falsch, wir liefern am Freitag")),
        *((text, True) for text in ("C'est faux", "Vendredi, pas lundi", "Nous livrons vendredi")),
        *((text, True) for text in ("Está mal", "El viernes, no el lunes", "Está errado", "Não, é sexta-feira")),
        *((text, True) for text in ("それは間違いです", "いいえ、金曜日です", "月曜日ではなく金曜日です")),
        *((text, False) for text in ("Ada, they moved it", "hey Zoe, look at this", "<@ada> they moved it")),
        *((text, False) for text in ("田中さん、見積もりを送って", "anyone for lunch", "who brings the tiles?")),
        *((text, False) for text in ("thanks anyway", "Danke trotzdem", "merci quand même", "ok", "lol")),
    ],
)
def test_a_remark_says_something_and_calls_none_of_the_people(text: str, *, remarks: bool) -> None:
    assert is_remark(text, ["Ada"]) is remarks
