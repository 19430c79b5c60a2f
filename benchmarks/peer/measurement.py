"""Growth by slices, in turns, and what the full stores are like; results are plain records that JSON can hold."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

from benchmarks.peer.corpus import ReplayDocument, ReplayQuestion
from benchmarks.peer.system import Reply, System

MODES = ("naive", "local", "global", "hybrid", "mix")
CUTS = (2, 5, 10)
ROUNDS = 2
UNCHANGED = 100  # documents that are added again unchanged


@dataclass(frozen=True, slots=True)
class GrowthPlan:
    """Sizes of the store at which everything is measured; documents of a slice.

    After the moment `until` (time.monotonic) no further slice is begun.
    """

    stages: Sequence[int]
    slice_size: int
    until: float


@dataclass(frozen=True, slots=True)
class SliceFigures:
    """One slice of documents: how many the store held before, seconds without new vectors, and these apart."""

    before: int
    count: int
    seconds: float
    processor: float
    waited: float
    computed: int


@dataclass(frozen=True, slots=True)
class StageFigures:
    """A store of `documents`: milliseconds (p50, p95) and recall in percent by mode, seconds, MiB."""

    documents: int
    questions: int
    retrieval: dict[str, tuple[float, float]]
    recall: dict[str, tuple[float, ...]]
    edit: float
    delete: float
    reingest: float
    start: float
    resident: float
    resident_started: float
    disk: float


@dataclass(slots=True)
class SystemFigures:
    """Everything measured of one system."""

    name: str
    slices: list[SliceFigures] = field(default_factory=list)
    stages: list[StageFigures] = field(default_factory=list)

    @classmethod
    def load(cls, row: Mapping[str, Any]) -> SystemFigures:
        """The record that `asdict` and JSON made a mapping of."""
        slices = [SliceFigures(**slice_) for slice_ in row["slices"]]
        return cls(row["name"], slices, [StageFigures(**stage) for stage in row["stages"]])


def save_figures(file: Path, figures: Sequence[SystemFigures]) -> None:
    file.write_text(json.dumps([asdict(figure) for figure in figures], indent=1), encoding="utf-8")


def load_figures(file: Path) -> list[SystemFigures]:
    return [SystemFigures.load(row) for row in json.loads(file.read_text(encoding="utf-8"))]


def build_slice(before: int, count: int, reply: Reply) -> SliceFigures:
    return SliceFigures(before, count, reply.seconds, reply.processor, reply.waited, reply.computed)


def split_slices(count: int, size: int, stages: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(start, stop) of each slice; a slice also ends at each stage."""
    start = 0
    for stage in sorted({*(number for number in stages if number < count), count}):
        while start < stage:
            stop = min(start + size, stage)
            yield start, stop
            start = stop


def print_rates(figures: Sequence[SystemFigures]) -> None:
    """Documents a second of the last slice."""
    last = [(figure.name, figure.slices[-1]) for figure in figures]
    rates = ", ".join(f"{name} {one.count / one.seconds:.2f}" for name, one in last)
    print(f"{last[0][1].before + last[0][1].count:6,} documents; documents a second: {rates}", flush=True)


def to_rows(documents: Sequence[ReplayDocument]) -> list[dict[str, str]]:
    return [asdict(document) for document in documents]


def compute_recall(questions: Sequence[ReplayQuestion], rankings: Sequence[Sequence[str]]) -> tuple[float, ...]:
    """Mean percent of the gold documents among the first of each cut."""
    if not questions:
        return ()
    pairs = list(zip(questions, rankings, strict=True))
    return tuple(
        mean(100 * len(question.gold & set(ranking[:cut])) / len(question.gold) for question, ranking in pairs)
        for cut in CUTS
    )


async def measure_retrieval(
    system: System, mode: str, questions: Sequence[ReplayQuestion]
) -> tuple[tuple[float, float], list[list[str]]]:
    """Milliseconds (p50, p95) of one mode, and the documents retrieved for each question, best first."""
    rows = [question.keywords() for question in questions]
    result = (await system.call("retrieve", mode=mode, questions=rows, rounds=ROUNDS)).result
    times = result["milliseconds"]
    return (median(times), quantiles(times, n=20)[-1]), result["rankings"]


async def measure_stage(
    systems: Sequence[System], documents: Sequence[ReplayDocument], questions: Sequence[ReplayQuestion]
) -> list[StageFigures]:
    """The figures of stores that hold exactly these documents, and hold them again afterwards.

    Recall counts only the questions whose gold documents are all in the store.
    """
    held = {document.key for document in documents}
    known = [number for number, question in enumerate(questions) if question.gold <= held]
    residents, disks = [system.resident for system in systems], [system.disk for system in systems]
    times: list[dict[str, tuple[float, float]]] = [{} for _ in systems]
    recalls: list[dict[str, tuple[float, ...]]] = [{} for _ in systems]
    for mode in MODES:
        for place, system in enumerate(systems):
            times[place][mode], rankings = await measure_retrieval(system, mode, questions)
            recalls[place][mode] = compute_recall([questions[n] for n in known], [rankings[n] for n in known])
    stages = []
    for place, system in enumerate(systems):
        changes = await measure_changes(system, documents)
        start = await system.restart(mode="naive", questions=[questions[0].keywords()], rounds=0)
        sizes = {"resident": residents[place], "resident_started": system.resident, "disk": disks[place]}
        stages.append(
            StageFigures(len(documents), len(known), times[place], recalls[place], **changes, start=start, **sizes)
        )
    return stages


async def measure_changes(system: System, documents: Sequence[ReplayDocument]) -> dict[str, float]:
    """Seconds of one edited, one deleted, and a slice of unchanged documents; both are put back afterwards."""
    edited, deleted = documents[len(documents) // 3], documents[len(documents) // 2]
    edit = await system.call("edit", document=asdict(edited.edited()))
    delete = await system.call("delete", key=deleted.key)
    await system.call("edit", document=asdict(edited))
    await system.call("ingest", documents=to_rows([deleted]))
    again = await system.call("ingest_again", documents=to_rows(documents[-UNCHANGED:]))
    return {"edit": edit.seconds, "delete": delete.seconds, "reingest": again.seconds}


async def grow(
    systems: Sequence[System],
    documents: Sequence[ReplayDocument],
    questions: Sequence[ReplayQuestion],
    plan: GrowthPlan,
    save: Callable[[list[SystemFigures]], None],
) -> list[SystemFigures]:
    """Add the documents slice by slice, to each system in turn, and measure at the stages and at the end."""
    figures = [SystemFigures(system.name) for system in systems]
    for start, stop in split_slices(len(documents), plan.slice_size, plan.stages):
        rows = to_rows(documents[start:stop])
        for system, each in zip(systems, figures, strict=True):
            each.slices.append(build_slice(start, stop - start, await system.call("ingest", documents=rows)))
        save(figures)
        print_rates(figures)
        is_last = stop == len(documents) or time.monotonic() > plan.until
        if stop in plan.stages or is_last:
            measured = await measure_stage(systems, documents[:stop], questions)
            for each, stage in zip(figures, measured, strict=True):
                each.stages.append(stage)
            save(figures)
        if is_last:
            break
    return figures
