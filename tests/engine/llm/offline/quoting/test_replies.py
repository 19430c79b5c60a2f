"""What answers a question of a conversation, and what explains a sentence."""

from __future__ import annotations

import pytest

from engine.llm.offline.quoting.replies import find_continuation, find_explanation, find_reply, repeats_question
from engine.llm.offline.words import content_stems
from tests.engine.llm.offline.quoting.clauses import read

TALK = (
    "[2026-03-02 09:00] Ada: The mill stood still all night.",
    "[2026-03-02 09:01] Bo: What was it?",
    "[2026-03-02 09:02] Bo: Anybody?",
    "[2026-03-02 09:05] Ada: A belt had come off.",
)


def test_a_question_is_answered_by_the_next_statement_of_somebody_else() -> None:
    candidates = read(*TALK)
    assert [find_reply(at, candidates) for at in range(3)] == [None, 3, 3]
    assert find_reply(1, read(*TALK, one_document=False)) is None


@pytest.mark.parametrize("reply", ["I did, sorry.", "Mine, thanks!", "Das war ich.", "Moi !", "Fui eu", "私です"])
def test_a_direct_reply_of_the_same_day_may_be_of_another_conversation(reply: str) -> None:
    talk = ("[2026-03-02 09:00] Ada: Who lost the key? It is at the gate.", f"[2026-03-02 12:05] Bo: {reply}")
    assert find_reply(0, read(*talk, one_document=False)) == 1
    late = (talk[0], f"[2026-03-04 09:00] Bo: {reply}")
    assert find_reply(0, read(*late, one_document=False)) is None


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Who lost the bicycle key? It is at the gatehouse.", True),
        ("Who lost the bicycle key?", True),
        ("The bicycle key is at the gatehouse. Shall I bring it?", False),
        ("The bicycle key is at the gatehouse.", False),
    ],
)
def test_a_message_asks_if_its_question_has_more_of_the_words(text: str, asked: bool) -> None:  # noqa: FBT001  - a parameter of the table
    [one, *_] = read(f"[2026-03-02 09:00] Ada: {text}")
    assert repeats_question(one, content_stems("Who lost the bicycle key?")) is asked


def test_the_order_of_sources_does_not_matter() -> None:
    candidates = read(*reversed(TALK))
    reply = find_reply(2, candidates)
    assert reply is not None
    assert candidates[reply].text == "A belt had come off."


@pytest.mark.parametrize(
    ("texts", "at", "explained"),
    [
        (TALK, 0, ["What was it?", "A belt had come off."]),
        ((TALK[0], "[2026-03-02 09:02] Ada: Because of a belt, it seems."), 0, ["Because of a belt, it seems."]),
        (("The mill stands still. A belt came off.",), 0, ["A belt came off."]),
        (("A belt came off because of rain. The mill stands still.",), 1, ["A belt came off because of rain."]),
        (("The mill stands still because a belt came off. It rains.",), 0, []),
    ],
)
def test_a_sentence_without_a_reason_comes_with_the_one_that_gives_it(
    texts: tuple[str, ...], at: int, explained: list[str]
) -> None:
    candidates = read(*texts)
    assert [candidates[place].text for place in find_explanation(at, candidates)] == explained


def test_how_something_is_done_takes_the_next_sentences_of_the_passage() -> None:
    candidates = read("Pull the lever. Wait. Let it go. Go home.", "Another passage.")
    assert [candidates[at].text for at in find_continuation(0, candidates)] == ["Wait.", "Let it go."]
    assert find_continuation(3, candidates) == []
