"""What the last check of the models found, for the owner."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot.capabilities.management.results import CheckedModel
from engine.llm.traits.remembered import list_checked_roles

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FEATURES = {"streaming": "streaming", "system_role": "system role", "json_mode": "JSON mode"}


def list_checked_models(data_dir: Path) -> tuple[CheckedModel, ...]:
    """The results of the last check, by role."""
    return tuple(
        CheckedModel(
            str(role["role"]),
            str(role["model"]),
            summarize_facts(role["facts"]),
            tuple(f"{problem['text']} {problem['hint']}".strip() for problem in role["problems"]),
            datetime.fromisoformat(role["checked_at"]),
        )
        for role in list_checked_roles(data_dir)
    )


def summarize_facts(facts: Mapping[str, Any]) -> str:
    """What was found of a model, on one line."""
    can = [shown for name, shown in FEATURES.items() if facts.get(name)]
    parts = [", ".join(can)] if can else []
    if window := facts.get("window"):
        parts.append(f"window {window:,} ({facts.get('window_origin')})")
    if limit := facts.get("output_limit"):
        parts.append(f"replies up to {limit:,}")
    if facts.get("reasons"):
        parts.append(f"reasons ({facts.get('reasoning_effort') or 'as its provider does'})")
    if dimension := facts.get("dimension"):
        parts.append(f"{dimension:,} dimensions")
    if "price_known" in facts:
        parts.append("price known" if facts["price_known"] else "price unknown")
    return " · ".join(parts)
