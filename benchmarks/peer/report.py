"""The tables of a comparison, as Markdown, and what cannot be compared. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.peer.measurement import CUTS, UNCHANGED, StageFigures, SystemFigures

REMARKS = """
Both run with their own defaults: {peer} with JSON, NanoVectorDB and NetworkX files that it holds in memory; {ours} with
SQLite, LanceDB and Kùzu. The database servers that {peer} can use instead are not measured.

Vectors come from one cache file. Seconds spent on computing missing ones are subtracted ({waited}).

Replies of the model are stored and take no time. {peer} sends two calls per chunk, {ours} shares calls between chunks;
what a real model would add is not measured.

{peer} has no edit: the document is deleted and inserted. It refuses a document whose name it knows and stores a row
about the refusal; {ours} compares the texts.

Retrieval uses each system's own limits (40 entities or relations, 20 chunks), no reranker, the same keywords, and kept
vectors of the questions. {ours} also searches full text and filters by visibility.

A start is measured from the start of the process to the result of the first question, imports included.

Memory is that of the process alone. Neither loads the embedder or a library for models.

The texts that are embedded for entities and relations differ, so the numbers of vectors differ, too.
"""


def print_report(peer: SystemFigures, ours: SystemFigures, cores: int) -> None:
    for line in build_report(peer, ours, cores):
        print(line)


def build_report(peer: SystemFigures, ours: SystemFigures, cores: int) -> Iterator[str]:
    """All tables. Ratios above 1 are in favor of the second system."""
    yield f"\n{peer.name} beside {ours.name} on {cores} cores; ratios above 1.0 favor {ours.name}.\n"
    yield from build_growth_table(peer, ours)
    for theirs, own in zip(peer.stages, ours.stages, strict=True):
        yield f"\nAt {own.documents:,} documents:\n"
        yield from build_stage_table(peer, ours, theirs, own)
        if own.questions:
            yield f"\nRecall in percent, {own.questions} questions whose passages are all in the store:\n"
            yield from build_recall_table((peer.name, theirs), (ours.name, own))
    yield "\nWhat to keep in mind:\n"
    yield from build_remarks(peer, ours)


def build_remarks(peer: SystemFigures, ours: SystemFigures) -> Iterator[str]:
    """What is not comparable, as a list."""
    vectors = (
        f"{each.name} {sum(one.computed for one in each.slices):,} in {sum(one.waited for one in each.slices):.0f} s"
        for each in (peer, ours)
    )
    text = REMARKS.format(peer=peer.name, ours=ours.name, waited=", ".join(vectors))
    yield from (f"* {' '.join(remark.split())}" for remark in text.strip().split("\n\n"))


def build_growth_table(peer: SystemFigures, ours: SystemFigures) -> Iterator[str]:
    """Documents a second by wall clock, and processor seconds per document, by slice and in all."""
    names = (peer.name, ours.name)
    yield row(
        "documents", *(f"{name}, docs/s" for name in names), "ratio", *(f"{name}, CPU s/doc" for name in names), "ratio"
    )
    yield row(*["---"] * 7)
    for theirs, own in zip(peer.slices, ours.slices, strict=True):
        yield growth_row(
            f"{own.before:,}–{own.before + own.count:,}",
            own.count,
            (theirs.seconds, own.seconds),
            (theirs.processor, own.processor),
        )
    totals = [
        (sum(one.seconds for one in each.slices), sum(one.processor for one in each.slices)) for each in (peer, ours)
    ]
    count = sum(one.count for one in ours.slices)
    yield growth_row("all", count, (totals[0][0], totals[1][0]), (totals[0][1], totals[1][1]))


def growth_row(label: str, count: int, seconds: tuple[float, float], processor: tuple[float, float]) -> str:
    rates = [f"{count / second:.2f}" for second in seconds]
    costs = [f"{each / count:.3f}" for each in processor]
    return row(label, *rates, ratio(*seconds), *costs, ratio(*processor))


def build_stage_table(
    peer: SystemFigures, ours: SystemFigures, theirs: StageFigures, own: StageFigures
) -> Iterator[str]:
    """Retrieval, changes, start, memory and disk of two stores of the same documents."""
    yield row("", peer.name, ours.name, "ratio")
    yield row(*["---"] * 4)
    for mode in own.retrieval:
        for place, label in enumerate(("p50", "p95")):
            pair = theirs.retrieval[mode][place], own.retrieval[mode][place]
            yield row(f"retrieval, {mode}, {label}, ms", *(f"{each:.1f}" for each in pair), ratio(*pair))
    seconds = (
        ("edit one document, s", theirs.edit, own.edit),
        ("delete one document, s", theirs.delete, own.delete),
        (f"ingest {UNCHANGED} unchanged documents again, s", theirs.reingest, own.reingest),
        ("start and first question, s", theirs.start, own.start),
    )
    yield from (row(label, f"{a:.2f}", f"{b:.2f}", ratio(a, b)) for label, a, b in seconds)
    sizes = (
        ("resident memory after ingest, MiB", theirs.resident, own.resident),
        ("resident memory after a start, MiB", theirs.resident_started, own.resident_started),
        ("disk, MiB", theirs.disk, own.disk),
    )
    yield from (row(label, f"{a:.0f}", f"{b:.0f}", ratio(a, b)) for label, a, b in sizes)


def build_recall_table(*systems: tuple[str, StageFigures]) -> Iterator[str]:
    yield row("", *(f"R@{cut}" for cut in CUTS))
    yield row(*["---"] * (1 + len(CUTS)))
    for mode in systems[0][1].recall:
        for name, stage in systems:
            yield row(f"{name}, {mode}", *(f"{each:.1f}" for each in stage.recall[mode]))


def row(*cells: str) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def ratio(theirs: float, own: float) -> str:
    """How many times as much the first needs as the second."""
    if own <= 0:
        return "–"
    times = theirs / own
    return f"{times:.0f}×" if times >= 10 else f"{times:.1f}×"
