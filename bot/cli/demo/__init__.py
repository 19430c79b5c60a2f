"""The demo: the files of Ploverness, a fictional harbor town, and questions about it."""

from __future__ import annotations

from pathlib import Path

TOWN_DIR = Path(__file__).parent / "town"
