"""Nobody takes all places: a key has its share, and whoever keeps the server waiting gives way to a newcomer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.listeners.admission import Admission, Budget


def enter_all(admission: Admission[str], key: str, *holders: str, working: bool = False) -> list[str | None]:
    found = []
    for holder in holders:
        found.append(admission.enter(holder, key))
        if working:
            admission.work(holder)
    return found


def test_within_the_budget_everybody_is_let_in() -> None:
    admission = Admission[str](Budget(total=3, share=2))
    assert enter_all(admission, "a", "a1", "a2") == [None, None]
    assert admission.enter("b1", "b") is None
    assert len(admission) == 3


def test_beyond_a_share_the_longest_waiting_of_that_key_gives_way() -> None:
    admission = Admission[str](Budget(total=9, share=2))
    enter_all(admission, "b", "b1")
    assert enter_all(admission, "a", "a1", "a2", "a3", "a4") == [None, None, "a1", "a2"]
    assert len(admission) == 3


def test_who_works_never_gives_way() -> None:
    admission = Admission[str](Budget(total=2, share=2))
    enter_all(admission, "a", "a1", "a2", working=True)
    assert admission.enter("a3", "a") == "a3"
    assert admission.enter("b1", "b") == "b1"
    admission.wait("a1")
    assert admission.enter("b1", "b") == "a1"


def test_when_all_places_are_taken_the_key_with_the_most_gives_way_first() -> None:
    admission = Admission[str](Budget(total=4, share=3))
    enter_all(admission, "b", "b1")
    enter_all(admission, "a", "a1", "a2", "a3")
    assert admission.enter("c1", "c") == "a1"
    assert admission.enter("c2", "c") == "a2"


def test_a_newcomer_does_not_push_out_who_holds_less_than_itself() -> None:
    admission = Admission[str](Budget(total=3, share=3))
    enter_all(admission, "b", "b1")
    enter_all(admission, "a", "a1", "a2", working=True)
    assert admission.enter("a3", "a") == "a3"
    assert admission.enter("b2", "b") == "b1"


def test_people_behind_a_proxy_have_no_common_share() -> None:
    admission = Admission[str](Budget(total=3, share=1))
    assert enter_all(admission, "", "p1", "p2", "p3", "p4") == [None, None, None, "p1"]


def test_who_left_makes_room_and_may_leave_twice() -> None:
    admission = Admission[str](Budget(total=1, share=1))
    enter_all(admission, "a", "a1", working=True)
    for _ in range(2):
        admission.leave("a1")
    admission.wait("a1")
    assert admission.enter("b1", "b") is None
    assert len(admission) == 1


STEPS = st.lists(
    st.tuples(st.sampled_from(["enter", "wait", "work", "leave"]), st.sampled_from("abc"), st.integers(0, 5))
)


@given(STEPS)
def test_the_budget_holds_whatever_happens(steps: list[tuple[str, str, int]]) -> None:
    admission, inside, working = Admission[str](Budget(total=4, share=2)), dict[str, str](), set[str]()
    for step, key, number in steps:
        holder = f"{key}{number}"
        if step == "enter" and holder not in inside:
            left = admission.enter(holder, key)
            assert left not in working
            inside[holder] = key
            if left is not None:
                del inside[left]
        elif step == "leave":
            admission.leave(holder)
            inside.pop(holder, None)
            working.discard(holder)
        elif step in {"wait", "work"} and holder in inside:
            getattr(admission, step)(holder)
            (working.add if step == "work" else working.discard)(holder)
        assert len(admission) == len(inside) <= 4
        assert all(sum(other == character for other in inside.values()) <= 2 for character in "abc")
