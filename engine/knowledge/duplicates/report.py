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
class HomonymSense:
    """One of the things that a name may mean: its type, the documents that give it, and a text that mentions it."""

    type: str
    sources: int
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class Homonym:
    """A name of a space that may mean several things, the most frequent first."""

    space: str
    name: str
    senses: tuple[HomonymSense, ...]


@dataclass(frozen=True, slots=True)
class DuplicateReport:
    """Suggested pairs, the most likely first, automatic joins, and the number of entities that are not compared yet.

    `homonyms`: names that may mean two things each, those with the most sources for the second one first.
    """

    suggested: tuple[Duplicate, ...]
    joined: tuple[Duplicate, ...]
    uncompared: int = 0
    homonyms: tuple[Homonym, ...] = ()
