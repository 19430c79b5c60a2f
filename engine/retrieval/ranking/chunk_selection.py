"""Rank the chunks of the graph as LightRAG does (chunk_selection="vector" or "weight")."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from engine.text.similarity import best_similarity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np

    from engine.options import RankingOptions
    from engine.retrieval.ranking.fusion import Key


def pick_chunks(
    items: Sequence[Sequence[Key]],
    vectors: Mapping[Key, np.ndarray],
    query: np.ndarray | None,
    options: RankingOptions,
) -> list[Key]:
    """The best chunks of the entities, or of the relations, by similarity or, without vectors, by weight."""
    if not vectors or query is None or options.chunk_selection == "weight":
        return pick_by_weight(items, options.chunks_per_item)
    number = options.chunks_per_item * len(items) // 2
    return pick_by_vector(chain.from_iterable(items), vectors, query, number)


def deduplicate_sides(
    by_entity: Sequence[Iterable[Key]], by_relation: Sequence[Iterable[Key]]
) -> tuple[list[list[Key]], list[list[Key]]]:
    """The chunks of entities and of relations, each chunk once: with an entity if one has it, else with a relation."""
    entities = deduplicate_items(by_entity)
    seen = set(chain.from_iterable(entities))
    return entities, deduplicate_items([[chunk for chunk in item if chunk not in seen] for item in by_relation])


def deduplicate_items(items: Sequence[Iterable[Key]]) -> list[list[Key]]:
    """Each chunk with the first item that has it only; within an item those that most items have come first."""
    distinct = [list(dict.fromkeys(item)) for item in items]
    counts = Counter(chain.from_iterable(distinct))
    owner: dict[Key, int] = {}
    for index, item in enumerate(distinct):
        for key in item:
            owner.setdefault(key, index)
    return [
        sorted((key for key in item if owner[key] == index), key=lambda key: -counts[key])
        for index, item in enumerate(distinct)
    ]


def pick_by_weight(items: Sequence[Sequence[Key]], most: int) -> list[Key]:
    """Weighted polling: `most` keys from the first item, falling evenly to 1 from the last.

    If an item has too few, the difference is filled with keys left over from the first items that have more.
    """
    if most <= 0:
        return []
    steps = max(1, len(items) - 1)
    quotas = [round(most - index / steps * (most - 1)) for index in range(len(items))]
    picked = [key for item, quota in zip(items, quotas, strict=True) for key in item[:quota]]
    missing = sum(max(0, quota - len(item)) for item, quota in zip(items, quotas, strict=True))
    left = [key for item, quota in zip(items, quotas, strict=True) for key in item[quota:]]
    return picked + left[:missing]


def pick_by_vector(
    candidates: Iterable[Key], vectors: Mapping[Key, np.ndarray], query: np.ndarray, number: int
) -> list[Key]:
    """The `number` candidates most similar to the query, best first; those without a vector are left out.

    Each vector has shape (parts, dim); its most similar part counts.
    """
    similarity = {key: best_similarity(query, vectors[key]) for key in candidates if key in vectors}
    return sorted(similarity, key=lambda key: -similarity[key])[: max(0, number)]
