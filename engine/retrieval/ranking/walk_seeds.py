"""Where a random walk from the names of a question starts, and what it visits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from engine.options import RankingOptions
    from engine.retrieval.ranking.fusion import Key
    from engine.retrieval.ranking.pagerank import GraphNode
    from engine.storage.ledger.records import EntityMatch


VISIT_DIGITS = 9  # of the share of all visits; further ones depend on the order of additions


@dataclass(frozen=True, slots=True)
class SeedFact:
    """An end of a relation near the question: its canonical name, its mentions, and the relation's similarity."""

    name: str
    mentions: int
    similarity: float


def max_seed_mentions(chunk_count: int, options: RankingOptions) -> int:
    """The number of mentions up to which a name says what a question is about."""
    most = max(options.max_seed_mentions, int(options.max_seed_share * chunk_count))
    return min(most, options.max_walk_degree)  # no walk leads away from a name beyond


def build_name_seeds(
    entities: Iterable[EntityMatch],
    facts: Iterable[SeedFact],
    titled_chunks: Mapping[str, Sequence[int]],
) -> dict[GraphNode, float]:
    """Where walks start: at named entities, rare ones first, at named files, and at ends of near relations.

    They weigh 1 together.
    """
    by_name: dict[str, list[float]] = {}
    mentions: dict[str, int] = {}
    for fact in facts:
        by_name.setdefault(fact.name, []).append(fact.similarity)
        mentions[fact.name] = max(fact.mentions, mentions.get(fact.name, 0))
    seeds: Counter[GraphNode] = Counter()
    for name, similarities in by_name.items():
        seeds[name] += fmean(similarities) / max(1, mentions[name])  # type: ignore[assignment]  # a Counter of floats
    for entity in {match.canonical: match for match in entities}.values():
        seeds[entity.canonical] += 1 / max(1, entity.mentions)  # type: ignore[assignment]
    for chunks in titled_chunks.values():
        for chunk in chunks:
            seeds[chunk] += 1 / len(chunks)  # type: ignore[assignment]
    total = sum(seeds.values()) or 1.0
    return {node: weight / total for node, weight in seeds.items()}


def add_nearest_chunks(
    seeds: Mapping[GraphNode, float], similarity: Mapping[int, float], options: RankingOptions
) -> dict[GraphNode, float]:
    """The seeds, with a little weight for the chunks nearest to the question."""
    weights = dict(seeds)
    nearest = nlargest(options.prior_chunks, similarity.values())
    lowest, highest = min(nearest, default=0.0), max(nearest, default=0.0)
    for chunk, own in similarity.items():
        share = (own - lowest) / ((highest - lowest) or 1.0)
        if share > 0:
            weights[chunk] = weights.get(chunk, 0.0) + options.prior_weight * share
    return weights


def most_visited(visits: Mapping[Key, float], excluded: Container[Key], limit: int) -> dict[Key, float]:
    """The nodes that are visited at least as often as the `limit`-th, with rounded visits."""
    left = {node: count for node, count in visits.items() if node not in excluded}
    least = nlargest(limit, left.values())[-1:]
    if not least:
        return {}
    lowest = round(least[0], VISIT_DIGITS)
    near = {node: round(count, VISIT_DIGITS) for node, count in left.items() if count > lowest - 10**-VISIT_DIGITS}
    return {node: count for node, count in near.items() if count >= lowest}


def least_ranked_visits(visits: Iterable[float], options: RankingOptions) -> float:
    """How often walks from the names alone must visit a chunk that the walk ranks; `visits` are those of all chunks.

    Nearly equal visits of very many chunks come through a hub, such as a person who speaks in every message. Then only
    the chunks close to the names are ranked, because the order of the others means nothing.
    """
    number = max(options.max_walk_chunks, options.flatness_rank)
    most = nlargest(number, (round(count, VISIT_DIGITS) for count in visits))
    if len(most) < number or most[-1] <= options.max_flatness * most[options.flatness_rank - 1]:
        return 0.0
    return options.min_visit_share * most[0]


def count_expandable(degrees: Iterable[float], edges: int) -> int:
    """How many nodes, from the first on, have at most so many edges together; a node has at least one."""
    return sum(total <= edges for total in accumulate(max(1.0, degree) for degree in degrees))
