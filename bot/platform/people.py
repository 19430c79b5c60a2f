"""What a bot may know of people on each platform, by THREADLORE_PEOPLE and the rules of the platform."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from bot.platform.export_readers import ADAPTER_GROUP

if TYPE_CHECKING:
    from collections.abc import Mapping

# off: people are no entities, and nothing is searched or summarized by who wrote it; names: people are no entities;
# on: people are entities like others.
PeopleValue = Literal["off", "names", "on"]
DEFAULTS_FILE = "defaults.json"  # beside an adapter: values of settings that the rules of its platform ask for


@dataclass(frozen=True, slots=True)
class PeopleRules:
    """The value of each platform, and of everything else."""

    general: PeopleValue = "on"
    by_platform: Mapping[str, PeopleValue] | None = None

    def of(self, platform: str) -> PeopleValue:
        """The value of a platform."""
        return (self.by_platform or {}).get(platform, self.general)

    def list_prefixes(self, *values: PeopleValue) -> frozenset[str]:
        """The prefixes of the names of spaces with these values; "!" before those that are excepted from others."""
        named = self.by_platform or {}
        if self.general in values:
            return frozenset({"", *(f"!{name}:" for name, value in named.items() if value not in values)})
        return frozenset(f"{name}:" for name, value in named.items() if value in values)


def build_people_rules(setting: str, defaults: Mapping[str, PeopleValue]) -> PeopleRules:
    """The rules of a setting such as "names" or "on,chat=off"; without a value for all, a platform has its default."""
    general, named = "", dict[str, str]()
    for part in filter(None, (entry.strip() for entry in setting.split(","))):
        platform, is_named, value = (piece.strip() for piece in part.rpartition("="))
        if is_named:
            named[platform.lower()] = value
        else:
            general = value
    values = named if general else {**defaults, **named}
    return PeopleRules(
        cast("PeopleValue", general or "on"), {name: cast("PeopleValue", value) for name, value in values.items()}
    )


@cache
def load_people_defaults() -> dict[str, PeopleValue]:
    """The values that installed adapters declare; no adapter is imported for that."""
    found = dict[str, PeopleValue]()
    for entry_point in entry_points(group=ADAPTER_GROUP):
        spec = find_spec(entry_point.module)
        for folder in (spec.submodule_search_locations if spec else None) or ():
            file = Path(folder) / DEFAULTS_FILE
            if file.is_file() and (value := json.loads(file.read_text(encoding="utf-8")).get("people")):
                found[entry_point.name] = value
    return found
