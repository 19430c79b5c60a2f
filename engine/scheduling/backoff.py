"""Exponential back-off (pure)."""

from __future__ import annotations

_MAX_DOUBLINGS = 64


def backoff_seconds(tries: int, first: float, longest: float) -> float:
    """Seconds to wait after this many consecutive failures: `first` after one, then doubled up to `longest`."""
    return float(min(first * 2 ** min(max(tries - 1, 0), _MAX_DOUBLINGS), longest))
