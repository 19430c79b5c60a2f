"""A simulation of many workspaces on several processes: how long questions wait, with a burst and a killed process.

`python -m benchmarks.queue_simulation` prints a row for each policy and number of processes. Workspaces ask at rates
that follow Zipf's law; one of them asks many questions at once; one process is killed, and what it answered is answered
again after the others have noticed. `fair` takes the next question from each waiting workspace in turn, as the event
queue does; `fifo` takes the oldest. Nothing here runs the bot: the times of service are parameters.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections import OrderedDict, deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import simpy

from engine.storage.postgres.process_registry import REAP_SECONDS

Policy = Literal["fair", "fifo"]
Steps = Generator[simpy.Event, Any, None]

QUIET = 60.0  # seconds around the burst of which the wait of others is measured, see `Figures`


@dataclass(frozen=True, slots=True)
class Load:
    """What happens. Times in seconds.

    `notice`: until a killed process is noticed: at once where its connection is closed, 15 s where its machine is gone.
    """

    policy: Policy = "fair"
    processes: int = 3
    slots: int = 8  # questions that a process answers at once
    workspaces: int = 10_000
    questions_per_second: float = 2.0
    zipf: float = 1.1
    mean_service: float = 6.0  # from the question to its last word, mostly the model's
    service_sigma: float = 0.6  # of the lognormal distribution
    duration: float = 3_600.0
    burst_at: float = 600.0
    burst_size: int = 600
    kill_at: float = 1_800.0
    notice: float = REAP_SECONDS
    restart: float = 30.0
    seed: int = 1


@dataclass(slots=True)
class Job:
    """A question. `lost_at`: when the process that answered it was killed."""

    workspace: int
    arrived: float
    service: float
    is_burst: bool = False
    started: float | None = None
    finished: float | None = None
    completions: int = 0
    lost_at: float | None = None
    resumed_at: float | None = None

    @property
    def wait(self) -> float:
        """Seconds until its answer was begun for the first time."""
        return (self.started or self.arrived) - self.arrived


@dataclass(slots=True)
class WaitingJobs:
    """Waiting questions by workspace, or in one line for all of them."""

    policy: Policy
    lines: OrderedDict[int, deque[Job]] = field(default_factory=OrderedDict)

    def add(self, job: Job, *, first: bool = False) -> None:
        """Add a question; one that was lost comes first in its line."""
        line = self.lines.setdefault(job.workspace if self.policy == "fair" else 0, deque())
        (line.appendleft if first else line.append)(job)

    def take(self) -> Job | None:
        """The next question: of the workspace whose turn it is, or the oldest."""
        if not self.lines:
            return None
        workspace, line = self.lines.popitem(last=False)
        job = line.popleft()
        if line:
            self.lines[workspace] = line  # its next turn comes after all others
        return job


class Cluster:
    """Processes that answer questions from one queue."""

    def __init__(self, env: simpy.Environment, load: Load) -> None:
        self.env = env
        self.load = load
        self.waiting = WaitingJobs(load.policy)
        self.jobs = list[Job]()
        self._changed = env.event()
        self._random = random.Random(load.seed)
        self._slots: list[list[simpy.Process]] = []
        for _ in range(load.processes):
            self._start_process()
        env.process(self._ask())
        env.process(self._burst())
        env.process(self._kill())

    def _start_process(self) -> None:
        self._slots.append([self.env.process(self._answer()) for _ in range(self.load.slots)])

    def _add(self, workspace: int, *, is_burst: bool = False) -> None:
        mean, sigma = self.load.mean_service, self.load.service_sigma
        service = mean * self._random.lognormvariate(-sigma * sigma / 2, sigma)
        job = Job(workspace, self.env.now, service, is_burst)
        self.jobs.append(job)
        self._offer(job)

    def _offer(self, job: Job, *, first: bool = False) -> None:
        self.waiting.add(job, first=first)
        self._changed.succeed()
        self._changed = self.env.event()

    def _ask(self) -> Steps:
        numbers = range(1, self.load.workspaces + 1)
        weights = [1 / number**self.load.zipf for number in numbers]
        arrivals = self._random.choices(numbers, weights, k=int(self.load.questions_per_second * self.load.duration))
        for workspace in arrivals:
            yield self.env.timeout(self._random.expovariate(self.load.questions_per_second))
            self._add(workspace)

    def _burst(self) -> Steps:
        yield self.env.timeout(self.load.burst_at)
        for _ in range(self.load.burst_size):
            self._add(1, is_burst=True)

    def _answer(self) -> Steps:
        job: Job | None = None
        try:
            while True:
                job = self.waiting.take()
                if job is None:
                    yield self._changed
                    continue
                job.started = self.env.now if job.started is None else job.started
                job.resumed_at = self.env.now if job.lost_at is not None else None
                yield self.env.timeout(job.service)
                job.finished = self.env.now
                job.completions += 1
                job = None
        except simpy.Interrupt:
            if job is not None:
                job.lost_at = self.env.now
                self.env.process(self._take_over(job))

    def _take_over(self, job: Job) -> Steps:
        yield self.env.timeout(self.load.notice)
        self._offer(job, first=True)

    def _kill(self) -> Steps:
        yield self.env.timeout(self.load.kill_at)
        for slot in self._slots.pop(0):
            slot.interrupt()
        yield self.env.timeout(self.load.restart)
        self._start_process()


@dataclass(frozen=True, slots=True)
class Figures:
    """Seconds. `others`: waits of the workspaces without a burst that asked while it was worked on."""

    questions: int
    unanswered: int
    repeated: int
    wait_p50: float
    wait_p99: float
    others_p95: float
    others_max: float
    burst_max: float
    lost: int
    take_over_max: float


def simulate(load: Load) -> Figures:
    """Run until every question is answered."""
    env = simpy.Environment()
    cluster = Cluster(env, load)
    env.run(until=load.duration * 4)
    jobs = cluster.jobs
    waits = sorted(job.wait for job in jobs)
    burst_end = max((job.finished or 0.0 for job in jobs if job.is_burst), default=load.burst_at + QUIET)
    others = sorted(job.wait for job in jobs if job.workspace != 1 and load.burst_at <= job.arrived <= burst_end) or [
        0.0
    ]
    lost = [job for job in jobs if job.lost_at is not None]
    return Figures(
        questions=len(jobs),
        unanswered=sum(job.completions == 0 for job in jobs),
        repeated=sum(job.completions > 1 for job in jobs),
        wait_p50=statistics.median(waits),
        wait_p99=waits[int(len(waits) * 0.99)],
        others_p95=others[int(len(others) * 0.95)],
        others_max=others[-1],
        burst_max=max((job.wait for job in jobs if job.is_burst), default=0.0),
        lost=len(lost),
        take_over_max=max(((job.resumed_at or 0.0) - (job.lost_at or 0.0) for job in lost), default=0.0),
    )


def list_loads(base: Load) -> Iterator[tuple[str, Load]]:
    """The runs of the table."""
    for processes in (3, 6, 12):
        for policy in ("fifo", "fair"):
            rate = base.questions_per_second * processes / 3
            name = f"{processes} processes, {policy}"
            yield name, replace(base, policy=policy, processes=processes, questions_per_second=rate)
    yield "3 processes, fair, machine lost", replace(base, notice=15.0)
    yield "3 processes, fair, 90 % busy", replace(base, questions_per_second=3.6)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0)
    base = Load(duration=parser.parse_args().hours * 3_600)
    print("| Run | Questions | Wait p50, p99 | Others in the burst p95, max | Burst max | Lost, taken over within |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, load in list_loads(base):
        found = simulate(load)
        print(
            f"| {name} | {found.questions:,} | {found.wait_p50:.1f}, {found.wait_p99:.1f} | {found.others_p95:.1f},"
            f" {found.others_max:.1f} | {found.burst_max:.0f} | {found.lost}, {found.take_over_max:.1f} |"
        )


if __name__ == "__main__":
    main()
