"""The demo: Ploverness, a harbour town of our own invention, and what a newcomer asks about it."""

from __future__ import annotations

from pathlib import Path

TOWN_DIR = Path(__file__).parent / "town"
