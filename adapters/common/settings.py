"""Read the settings of one adapter, THREADLORE_<ADAPTER>_<NAME>, from those that the bot loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from bot.errors import BadSetting
from bot.settings import describe_bad_value

if TYPE_CHECKING:
    from bot.settings import Settings

log = structlog.get_logger(__name__)


class AdapterSettings(BaseModel):
    """Base class of an adapter's settings. `prefix` is the adapter's name and "_", in lower case."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    prefix: ClassVar[str] = ""

    @classmethod
    def load(cls, settings: Settings) -> Self:
        """Select and validate this adapter's settings; unknown ones are logged and ignored. Raises BadSetting."""
        values = {
            name.removeprefix(cls.prefix): value.get_secret_value()
            for name, value in settings.adapter_settings.items()
            if name.startswith(cls.prefix)
        }
        if unknown := sorted(values.keys() - cls.model_fields.keys()):
            log.warning("settings.unknown", names=[f"THREADLORE_{cls.prefix}{name}".upper() for name in unknown])
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            name = f"THREADLORE_{cls.prefix}{first['loc'][0]}".upper()
            raise BadSetting(f"{name} cannot be used: {describe_bad_value(first)}.") from error
