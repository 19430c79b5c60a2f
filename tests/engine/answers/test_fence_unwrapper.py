from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.answers.answer_stream import FenceUnwrapper


def unwrapped(text: str, cuts: Iterable[int] = ()) -> str:
    filter_, edges = FenceUnwrapper(), [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    return "".join(filter_.feed(text[start:stop]) for start, stop in pairwise(edges)) + filter_.close()


FOUR = "Four crowns [1]."
NESTED = "Run:\n```python\nfare(4)\n```\nIt costs four [1]."
BARE = "Run:\n```\nfare\n```\nIt costs four [1]."
WRAPPED = [
    (f"```markdown\n{FOUR}\n```", f"{FOUR}\n"),
    (f"```Markdown\r\n{FOUR}\r\n```\r\n", f"{FOUR}\r\n"),
    (f"\n\n  ```md\n{FOUR}\n  ```  \n\n", f"\n\n{FOUR}\n"),
    (f"~~~markdown\n{FOUR}\n~~~", f"{FOUR}\n"),
    (f"````markdown\n{BARE}\n````", f"{BARE}\n"),
    (f"```markdown\n{NESTED}\n```", f"{NESTED}\n"),
    (f"```markdown\n{BARE}\n```", f"{BARE}\n"),
    (f"```markdown\n{FOUR}\n```\nI hope this helps.", f"{FOUR}\nI hope this helps."),
    (f"```markdown\n{FOUR}", FOUR),
    (f"```\n{FOUR}\n```", FOUR),
    (f"```text\n{FOUR}\nMore.\n```\n", f"{FOUR}\nMore."),
    (f"```\n{NESTED}\n```", NESTED),
    (f"```\n{FOUR}", FOUR),
]
UNCHANGED = [
    FOUR,
    "```python\nprint(4)\n```",
    "```\nx = a[1]\n```",
    f"```\nls\n```\n{FOUR}",
    f"{FOUR}\n```markdown\n# A heading\n```",
    "```markdown is what I write [1]` ``",
    "``` `` `",
    "",
    "\n",
]


@pytest.mark.parametrize(("text", "shown"), [*WRAPPED, *((text, text) for text in UNCHANGED)])
def test_only_a_fence_around_the_whole_answer_is_removed(text: str, shown: str) -> None:
    assert unwrapped(text) == shown
    assert unwrapped(text, range(len(text))) == shown


FENCES = ["```", "~~~", "`", "markdown", "md", "python", "\n", "\r\n", " ", "[1]", "word", "````", "  "]
TEXTS = st.lists(st.sampled_from(FENCES), max_size=30).map("".join)


@given(TEXTS, st.lists(st.integers(0, 120), max_size=12))
@example("\r\n```\n[1]", [1])
def test_the_result_does_not_depend_on_the_cuts_of_the_stream(text: str, cuts: list[int]) -> None:
    assert unwrapped(text, cuts) == unwrapped(text)


@given(st.text(max_size=60))
def test_an_answer_without_fences_is_unchanged(text: str) -> None:
    plain = text.replace("`", "").replace("~", "")
    assert unwrapped(plain) == plain


def test_words_stream_inside_the_wrapper() -> None:
    filter_ = FenceUnwrapper()
    shown = [filter_.feed(piece) for piece in ("```mark", "down\nFo", "ur cro", "wns\n", "``", "` \n")]
    assert shown == ["", "Fo", "ur cro", "wns\n", "", ""]
    assert filter_.close() == ""


@pytest.mark.share(4)
@pytest.mark.parametrize("piece", ["`", " ", "```markdown\n", "```\n", "a", "```", "~~~\n", "```x"])
def test_the_cost_is_linear(piece: str) -> None:
    def spent(times: int) -> float:
        filter_, started = FenceUnwrapper(), time.process_time()
        for _ in range(times):
            filter_.feed(piece)
        filter_.close()
        return time.process_time() - started

    spent(1000)
    small, large = min(spent(8_000) for _ in range(3)), min(spent(32_000) for _ in range(3))
    assert large <= 2.5**2 * small + 0.02
