"""What programs say again and again is recognized as such; what people write is not."""

from __future__ import annotations

import pytest

from engine.text.conversations.notices import REPEATS, NoticeMemory


def line(text: str, author: str = "builder", minute: int = 0) -> str:
    return f"[2026-03-02 08:{minute:02}] {author}: {text}"


def compare(texts: list[str], author: str = "builder") -> list[bool]:
    memory = NoticeMemory()
    return [memory.is_repeated(1, number, line(text, author)) for number, text in enumerate(texts)]


@pytest.mark.parametrize(
    "texts",
    [
        [f"Build #{n} of the kiln passed in {n} s: https://ci.example/{n}" for n in range(8)],
        [f"{name} released version 1.{n} of the oven to the yard" for n, name in enumerate("ABCDEFGH")],
        [f"Reminder: the guild meets at {n}:30 in the hall" for n in range(8)],
        [f"アラート 窯 温度 {n} 度 が 上限 を 超え ました" for n in range(8)],
    ],
)
def test_messages_of_a_template_are_recognized_after_the_first_ones(texts: list[str]) -> None:
    assert compare(texts) == [False] * REPEATS + [True] * (len(texts) - REPEATS)


def test_what_people_write_is_not() -> None:
    texts = ["I will light the kiln at noon", "She moved the oven into the yard", "Bread is ready for the whole guild"]
    assert not any(compare([text for text in texts for _ in range(2)]))
    assert not any(compare(["ok", "on it", "light it"] * 9))
    assert not any(compare([f"{a} {b} {c} {d} sold" for a in "ab" for b in "cd" for c in "ef" for d in "gh"]))


def test_a_chunk_counts_once_and_only_if_all_its_messages_repeat() -> None:
    memory = NoticeMemory()
    notice = "Build #7 of the kiln passed today"
    assert not any(memory.is_repeated(1, 1, line(notice)) for _ in range(9))
    for number in range(2, REPEATS + 1):
        assert not memory.is_repeated(1, number, line(notice))
    assert memory.is_repeated(1, 99, f"{line(notice)}\n{line(notice, minute=1)}")
    assert not memory.is_repeated(1, 98, f"{line(notice)}\n{line('Ada fell into the oven', 'Ben')}")
    assert not memory.is_repeated(2, 97, line(notice)), "of another space"
    assert not memory.is_repeated(1, 96, "no message")
