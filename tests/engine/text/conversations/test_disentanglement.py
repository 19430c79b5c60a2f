"""Which message of a channel a message answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from engine.text.conversations.disentanglement import RECENT_MESSAGES, Disentangler, Utterance

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
GAP = timedelta(minutes=15)


def say(id_: str, minute: float, author: str, text: str, replies_to: str = "") -> Utterance:
    return Utterance(id_, author, text, START + timedelta(minutes=minute), replies_to)


def link(*utterances: Utterance) -> str:
    """The id of the message that the last one answers."""
    disentangler = Disentangler(GAP)
    found = [disentangler.link(utterance) for utterance in utterances][-1]
    return found.id if found else ""


BOILER = say("boiler", 0, "Ada Byron", "Why does the boiler in the cellar make that rattling noise?")
LADDER = say("ladder", 0.5, "Ben", "Who has the ladder for the roof?")
TALK = [say(str(number), 0.1 * number, f"Guest{number}", "Nice weather.") for number in range(8)]


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        pytest.param(say("x", 1, "Carl", "Ada: it has air in its pipes."), "boiler", id="a name at the start"),
        pytest.param(say("x", 1, "Carl", "@Ada Byron no idea"), "boiler", id="a mention"),
        pytest.param(
            say("x", 1, "Carl", "a rattling noise of the boiler in the cellar is air"), "boiler", id="words of it"
        ),
        pytest.param(say("x", 1, "Ada Byron", "since this morning"), "boiler", id="its author goes on"),
        pytest.param(say("x", 1, "Carl", "in the shed", replies_to="boiler"), "boiler", id="a quote outweighs all"),
        pytest.param(say("x", 1, "Carl", "in the shed"), "ladder", id="otherwise the latest"),
        pytest.param(say("x", 15, "Carl", "Ada: air"), "ladder", id="not after a long pause"),
        pytest.param(say("x", 16, "Carl", "Ada: air"), "", id="nobody wrote recently"),
    ],
)
def test_a_message_answers(last: Utterance, expected: str) -> None:
    assert link(BOILER, LADDER, last) == expected


def test_a_question_of_a_new_person_in_a_busy_channel_starts_a_conversation() -> None:
    assert link(*TALK, say("x", 2, "Zoe", "How do I get a key for the bicycle cellar?")) == ""


def test_two_people_alone_hold_one_conversation() -> None:
    assert link(BOILER, say("x", 3, "Zoe", "Is there a key for the bicycle cellar?")) == "boiler"


def test_messages_far_above_are_not_answered() -> None:
    crowd = [say(str(number), 1, "Ben", "Hm.") for number in range(RECENT_MESSAGES)]
    assert link(BOILER, *crowd, say("x", 2, "Carl", "Ada: the boiler has air.")) != "boiler"


@pytest.mark.parametrize("author", ["", ":", "Al", "\N{SNOWMAN}", "a" * 10_000])
def test_any_name_can_be_read(author: str) -> None:
    assert link(say("1", 0, author, author), say("2", 1, author, f"@{author}: x")) == "1"
