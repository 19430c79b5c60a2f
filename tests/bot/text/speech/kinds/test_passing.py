from __future__ import annotations

import pytest

from bot.text.speech.kinds.passing import estimate_passing, mentions_in_passing

BOT = "<@B1>"


@pytest.mark.parametrize(
    ("text", "is_passing"),
    [
        (f"just ask {BOT}", True),
        (f"who invited {BOT} here?", True),
        (f"{BOT} がまた落ちてます", True),
        (f"what {BOT} wrote about the mill is outdated", True),
        (f"the other day {BOT} gave me the wrong price", True),
        (f"ayer {BOT} me dio mal el precio", True),
        (f"was {BOT} zur Mühle meint ist falsch", True),
        (f"frag doch mal {BOT}, da steht alles drin", True),
        (f"I would not trust {BOT} with the rent", True),
        (f"je demande à {BOT} où est le moulin", False),
        (f"i wonder whether {BOT} can find the price of the mill", False),
        (f"est-ce que {BOT} trouve le prix du moulin", False),
        (f"what did {BOT} tell me about the mill?", False),
        (f"hey {BOT}, who has the key?", False),
        (f"who has the key, {BOT}?", False),
        (f"{BOT} 鍵はどこ", False),
    ],
)
def test_the_words_near_a_mention_tell_for_whom_a_message_is(text: str, *, is_passing: bool) -> None:
    assert mentions_in_passing(text) is is_passing


def test_the_number_of_blanks_around_a_mention_does_not_matter_without_blanks_in_the_language() -> None:
    assert estimate_passing(f"{BOT}が落ちてます") == estimate_passing(f"{BOT} が落ちてます")
