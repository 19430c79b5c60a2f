"""The simulation of queues, quickly: nothing is lost, fairness protects the others, a killed process is replaced."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.queue_simulation import Job, Load, WaitingJobs, simulate

SHORT = Load(workspaces=200, duration=900.0, burst_at=200.0, burst_size=300, kill_at=500.0)


@pytest.mark.parametrize("policy", ["fair", "fifo"])
def test_every_question_is_answered_once_whatever_is_killed(policy: str) -> None:
    found = simulate(replace(SHORT, policy=policy))  # type: ignore[arg-type]
    assert found.questions == 1800 + 300
    assert (found.unanswered, found.repeated) == (0, 0)
    assert 1 <= found.lost <= SHORT.slots


def test_a_burst_of_one_workspace_delays_the_others_only_without_fairness() -> None:
    fair, fifo = simulate(SHORT), simulate(replace(SHORT, policy="fifo"))
    assert fair.others_p95 < 3.0
    assert fifo.others_p95 > 20.0
    assert fair.burst_max > 60.0


@pytest.mark.parametrize("notice", [2.0, 15.0])
def test_lost_questions_are_taken_over_once_the_loss_is_noticed(notice: float) -> None:
    found = simulate(replace(SHORT, notice=notice, burst_size=0))
    assert notice <= found.take_over_max < notice + 10.0


def test_workspaces_take_turns() -> None:
    waiting = WaitingJobs("fair")
    for workspace in (1, 1, 1, 2, 3, 2):
        waiting.add(Job(workspace, 0.0, 1.0))
    taken = [job.workspace for job in iter(waiting.take, None)]
    assert taken == [1, 2, 3, 1, 2, 1]


def test_the_same_seed_gives_the_same_figures() -> None:
    assert simulate(SHORT) == simulate(SHORT)
    assert simulate(SHORT) != simulate(replace(SHORT, seed=2))
