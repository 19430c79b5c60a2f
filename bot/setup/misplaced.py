"""Say which secrets of the settings are in the place of others, before a platform is sent them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.plugins import list_setup_names
from bot.setup.env_file import name_variable
from bot.setup.pasted import clean_paste, find_misplaced, find_setting
from bot.setup.platforms import load_setups, order_setups

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.plugins import PlatformSetup
    from bot.settings import Settings


def list_misplaced(name: str, settings: Settings) -> list[str]:
    """What the secrets of a platform are known not to be, each as a sentence that mends it. Raises BadSetting.

    A secret of no known kind is left to the platform.
    """
    if name not in list_setup_names():
        return []
    setups = order_setups(name, load_setups())
    given = settings.adapter_settings
    values = {
        credential: clean_paste(given[credential.setting].get_secret_value())
        for credential in setups[0].list_needed(settings)
        if credential.setting in given
    }
    swapped = _list_swapped({each.setting: value for each, value in values.items()}, setups)
    if swapped:
        return [f"{' and '.join(swapped)} are in each other's place: exchange their values."]
    found = {each.setting: find_misplaced(value, each, setups) for each, value in values.items()}
    return [f"{name_variable(setting)}: {sentence}" for setting, sentence in found.items() if sentence]


def _list_swapped(values: Mapping[str, str], setups: Sequence[PlatformSetup]) -> list[str]:
    """The variables of two secrets, each of which is the other one."""
    kinds = {setting: find_setting(value, setups) for setting, value in values.items()}
    return [name_variable(place) for place, kind in kinds.items() if kind != place and kinds.get(kind) == place]
