"""The settings as they will be: those that are there, and those that were chosen and are not written yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from bot.settings import Settings, check_writers, load_present_settings, read_variables
from bot.setup.env_file import name_variable, write_env_file
from engine.data_dir import DataDir

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PRIVATE_MODE = 0o600  # the owner may read and write
PLACES = frozenset({"data_dir", "web_port"})  # settings that say where, and not what is set up


@dataclass(slots=True)
class SetupDraft:
    """Settings that are being chosen for a file. `present`: those so far; `chosen`: new values, by setting.

    `overrides`: the options of the command line that go before all settings.
    """

    file: Path
    present: Settings
    overrides: Mapping[str, str]
    chosen: dict[str, str] = field(default_factory=dict)

    def find_present(self, setting: str) -> str:
        """The value of a setting so far, that of an adapter included; empty if there is none."""
        found: Any = self.present.adapter_settings.get(setting) or getattr(self.present, setting, "")
        return found.get_secret_value() if isinstance(found, SecretStr) else str(found)

    def find_value(self, setting: str) -> str:
        """The value of a setting that is to be written, or is there."""
        return self.chosen.get(setting, self.find_present(setting))

    def load_chosen(self) -> Settings:
        """The settings as they will be. Raises BadSetting."""
        own = {name: value for name, value in self.chosen.items() if name in Settings.model_fields}
        others = {name: value for name, value in self.chosen.items() if name not in own}
        adapters = {**{name: each.get_secret_value() for name, each in self.present.adapter_settings.items()}, **others}
        return load_present_settings(self.file, **{**self.overrides, **own, "adapter_settings": adapters})

    def list_changes(self) -> dict[str, str]:
        """The variables that the file does not have so, with their values. Raises BadSetting."""
        present = read_variables(self.file) if self.file.is_file() else {}
        values = {name_variable(setting): value for setting, value in self.chosen.items()}
        return {name: value for name, value in values.items() if present.get(name, "") != value}

    def write(self) -> Sequence[str]:
        """Write what changes, at once and for the owner alone; returns the variables. Raises BadSetting, DiskError."""
        changes, folder = self.list_changes(), self.file.parent
        if changes and folder.is_dir() and folder.resolve() == self.present.data_path.resolve():
            check_writers(folder)  # what is written there would not be read
        if changes:
            write_env_file(self.file, changes)
        elif self.file.is_file():
            self.file.chmod(PRIVATE_MODE)
        return sorted(changes)

    def list_overridden(self) -> Sequence[str]:
        """The variables of the environment that go before what was written."""
        loaded = SetupDraft(self.file, load_present_settings(self.file, **self.overrides), {})
        return [name_variable(name) for name, value in self.chosen.items() if loaded.find_present(name) != value]


def is_untouched(draft: SetupDraft) -> bool:
    """Whether nothing was set up yet: no file, no setting but of places, and no data."""
    settings = draft.present
    chosen = settings.model_fields_set - PLACES - {"adapter_settings"}
    return not (draft.file.is_file() or chosen or settings.adapter_settings) and not (
        DataDir(settings.data_path).ledger_path.exists()
    )
