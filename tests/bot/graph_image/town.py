"""A neighborhood to draw: a middle, names around it, and what lies behind some of them."""

from __future__ import annotations

from collections.abc import Sequence

from engine.models import ContextEntity, ContextRelation
from engine.retrieval.retriever import Neighborhood

TYPES = ("person", "organization", "location", "event")


def row(name: str, type_: str = "") -> ContextEntity:
    return ContextEntity(name, type_ or TYPES[sum(map(ord, name)) % len(TYPES)], f"{name} is something.")


def link(source: str, target: str, weight: float = 1.0, keywords: str = "trade,friends") -> ContextRelation:
    return ContextRelation(source, target, keywords, f"{source} knows {target}.", weight)


def around(middle: str, names: Sequence[str], weights: Sequence[float] = ()) -> Neighborhood:
    heavy = weights or [1.0] * len(names)
    relations = tuple(link(middle, name, weight) for name, weight in zip(names, heavy, strict=True))
    return Neighborhood(row(middle), relations, tuple(map(row, names)))
