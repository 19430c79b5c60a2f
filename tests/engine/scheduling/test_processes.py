"""The only process on files: leases between its tasks, notifications within it."""

from __future__ import annotations

import asyncio

from engine.scheduling.processes import LocalProcesses, SignsOfLife


async def test_one_task_holds_a_lease() -> None:
    processes, order = LocalProcesses(), list[str]()

    async def hold(name: str) -> None:
        async with processes.lease("work"):
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            order.append(f"{name} ends")

    async with processes.lease("work"):
        waiting = [asyncio.create_task(hold(name)) for name in ("a", "b")]
        async with processes.try_lease("work") as is_held, processes.try_lease("other") as is_other_held:
            assert (is_held, is_other_held) == (False, True)
            assert await processes.list_leases("w") == {"work": processes.id}
        await asyncio.sleep(0)
        assert order == []
    await asyncio.gather(*waiting)
    assert order == ["a begins", "a ends", "b begins", "b ends"]
    async with processes.try_lease("work") as is_held:
        assert is_held


async def test_subscribers_are_woken() -> None:
    processes, woken = LocalProcesses(), list[str]()
    processes.subscribe("work", lambda: woken.append("work"))
    processes.subscribe("other", lambda: woken.append("other"))
    processes.notify("work")
    assert woken == ["work"]


def test_a_process_is_silent_once_its_sign_has_not_changed_for_long() -> None:
    signs = SignsOfLife()
    assert signs.list_silent({1: "a", 2: "a"}, 0.0, 10.0) == []
    assert signs.list_silent({1: "a", 2: "a"}, 4.0, 10.0) == []
    assert signs.list_silent({1: "b", 2: "a"}, 9.0, 10.0) == []
    assert signs.list_silent({1: "b", 2: "a", 3: "a"}, 11.0, 10.0) == [2]
    assert signs.list_silent({1: "c"}, 15.0, 10.0) == []


def test_time_in_which_this_process_was_stopped_too_counts_for_nobody() -> None:
    signs = SignsOfLife()
    signs.list_silent({1: "a"}, 100.0, 10.0)
    assert signs.list_silent({1: "a"}, 900.0, 10.0) == []
    assert signs.list_silent({1: "a"}, 905.0, 10.0) == []
    assert signs.list_silent({1: "a"}, 909.0, 10.0) == []
    assert signs.list_silent({1: "a"}, 911.0, 10.0) == [1]
