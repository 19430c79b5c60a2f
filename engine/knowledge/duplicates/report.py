"""Duplicate names as they are reported, with their evidence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two names of a space that mean the same entity (`is_joined`), or may do so.

    `reason`: why they were joined: spelling, article, honorific, plural or abbreviation. `score`: the estimated
    probability. `spelling`: 0 to 100. `similarity`: cosine of their vectors, 0 if unknown. `shared`: some of their
    `shared_count` common neighbors. `excerpts`: a text that names each.
    """

    space: str
    name: str
    other: str
    is_joined: bool
    score: float
    spelling: float
    similarity: float = 0.0
    reason: str = ""
    shared: tuple[str, ...] = ()
    shared_count: int = 0
    excerpts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DuplicateReport:
    """Suggested pairs, the most likely first, automatic joins, and the number of entities that are not compared yet."""

    suggested: tuple[Duplicate, ...]
    joined: tuple[Duplicate, ...]
    uncompared: int = 0
