"""Remember what was found out about models, in a file of the data directory.

The file is read when a program starts and written by each check; another process may write it at any time.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from engine.llm.config import ModelConfig

FILE_NAME = "model_checks.json"
ROLES_KEY = "roles"
THINKING_KEY = "thinking"
PROVIDER = "provider"  # origin of a window that the provider itself stated


@dataclass(frozen=True, slots=True)
class RememberedFacts:
    """What was found out, by model and address."""

    by_model: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def find_window(self, model: ModelConfig) -> int:
        """The context window that the provider stated, in tokens; 0 if it is not known."""
        found = self.by_model.get(model_key(model), {})
        window = found.get("window") if found.get("window_origin") == PROVIDER else 0
        return window if isinstance(window, int) and window > 0 else 0

    def find_dimension(self, model: ModelConfig) -> int:
        """The number of dimensions of an embedding model; 0 if it is not known."""
        found = self.by_model.get(model_key(model), {}).get("dimension")
        return found if isinstance(found, int) and found > 0 else 0


def model_key(model: ModelConfig) -> str:
    """The name of a model in the file."""
    return f"{model.model}@{model.api_base}" if model.api_base else model.model


def load_facts(data_dir: Path) -> RememberedFacts:
    """What is remembered; nothing if the file is missing or damaged, since a check finds it out again."""
    try:
        found = json.loads((data_dir / FILE_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return RememberedFacts()
    if not isinstance(found, dict):
        return RememberedFacts()
    return RememberedFacts({key: value for key, value in found.items() if isinstance(value, dict)})


def save_facts(data_dir: Path, found: Mapping[str, Mapping[str, Any]]) -> None:
    """Add what was found out to the file, which is replaced as a whole. Raises OSError."""
    kept = {**load_facts(data_dir).by_model, **found}
    for path in data_dir.glob(f".{FILE_NAME}.*"):
        if not _is_running(path.suffix[1:]):
            path.unlink(missing_ok=True)  # a process was killed while it wrote it
    new = data_dir / f".{FILE_NAME}.{os.getpid()}"
    try:
        new.write_text(json.dumps(kept, ensure_ascii=False, indent=1, sort_keys=True), encoding="utf-8")
        new.replace(data_dir / FILE_NAME)
    finally:
        new.unlink(missing_ok=True)


def _is_running(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except PermissionError:
        return True
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    return True


def load_thinking(data_dir: Path) -> object:
    """What replies have shown of the thoughts of models, as `save_thinking` was given it."""
    return load_facts(data_dir).by_model.get(THINKING_KEY, {}).get("learned")


def save_thinking(data_dir: Path, learned: Sequence[Sequence[str | bool]]) -> None:
    """Keep what replies have shown of the thoughts of models, if that is new. Raises OSError."""
    if learned and learned != load_thinking(data_dir):
        save_facts(data_dir, {THINKING_KEY: {"learned": learned}})


def save_check(data_dir: Path, found: Mapping[str, Mapping[str, Any]], roles: Mapping[str, Mapping[str, Any]]) -> None:
    """Add what a check found, and its results by role in place of the last ones. Raises OSError."""
    save_facts(data_dir, {**found, ROLES_KEY: roles})


def list_checked_roles(data_dir: Path) -> list[Mapping[str, Any]]:
    """The results of the last check, one of each role with its model, facts, problems and time."""
    return [fact for fact in load_facts(data_dir).by_model.get(ROLES_KEY, {}).values() if isinstance(fact, dict)]
