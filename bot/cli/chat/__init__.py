"""Conversations at the terminal, and the demo with the files of Ploverness, a fictional harbor town."""

from __future__ import annotations

from pathlib import Path

TOWN_DIR = Path(__file__).parent / "town"
