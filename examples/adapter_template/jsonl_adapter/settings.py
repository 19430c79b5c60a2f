"""Settings of the adapter (THREADLORE_JSONL_…)."""

from __future__ import annotations

from pathlib import Path

from adapters.common.settings import AdapterSettings


class JsonlSettings(AdapterSettings):
    """`files`: the folder from which the files of messages are read."""

    prefix = "jsonl_"

    files: Path = Path()
