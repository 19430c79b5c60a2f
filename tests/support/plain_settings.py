"""Settings without an environment: to search it for each of 150 settings takes longer than to open the databases."""

from __future__ import annotations

from typing import Any

from bot.settings import Settings


def plain_settings(**values: Any) -> Settings:
    """Settings of these values, checked as always, and of the defaults."""
    settings = Settings.__new__(Settings)
    Settings.__pydantic_validator__.validate_python({"disk_reserve_mb": 0, **values}, self_instance=settings)
    return settings
