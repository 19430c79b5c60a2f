"""Buttons that work after a restart: all that they mean stands in their id."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol, cast

import discord
import structlog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.platform.models import Button

log = structlog.get_logger(__name__)

MAX_ID_LENGTH = 100  # characters of an id
MAX_LABEL_LENGTH = 80
MAX_BUTTONS = 25
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_SNOWFLAKE = re.compile(r"(?<!\d)[1-9]\d{15,19}(?!\d)")
_PACKED_SNOWFLAKE = re.compile(r"~([0-9a-z]+)~")


class ButtonHandler(Protocol):
    """Who wants to know that a button was pressed."""

    async def handle_button(self, interaction: discord.Interaction[Any], action: str, value: str) -> None:
        """Somebody pressed it."""


class ActionButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"tl:(?P<action>[a-z-]+):(?P<value>.*)"):
    """A button of ours, made anew from its id when somebody presses it."""

    def __init__(self, action: str, value: str, label: str = "") -> None:
        button = discord.ui.Button[Any](
            label=label[:MAX_LABEL_LENGTH] or None, custom_id=encode_custom_id(action, value)
        )
        super().__init__(button)
        self.action = action
        self.value = value

    @classmethod
    async def from_custom_id(
        cls, _interaction: discord.Interaction[Any], _item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> ActionButton:
        """The button that was pressed."""
        return cls(match["action"], decode_value(match["value"]), "…")

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Pass it on."""
        await cast("ButtonHandler", interaction.client).handle_button(interaction, self.action, self.value)


def build_view(buttons: Sequence[Button]) -> discord.ui.View | None:
    """Buttons below a message, or None without any; one whose id would be too long is left out, and logged."""
    fitting = [button for button in buttons if len(encode_custom_id(button.action, button.value)) <= MAX_ID_LENGTH]
    if len(fitting) < len(buttons):
        log.warning("discord.buttons_dropped", actions=[button.action for button in buttons if button not in fitting])
    if not fitting:
        return None
    view = discord.ui.View(timeout=None)
    for button in fitting[:MAX_BUTTONS]:
        view.add_item(ActionButton(button.action, button.value, button.label))
    return view


def encode_custom_id(action: str, value: str) -> str:
    """The id of a button; Discord's own long numbers in it are written shorter where it would not fit."""
    custom_id = f"tl:{action}:{value}"
    if len(custom_id) <= MAX_ID_LENGTH:
        return custom_id
    return f"tl:{action}:" + _SNOWFLAKE.sub(lambda found: f"~{_to_base36(int(found[0]))}~", value)


def decode_value(value: str) -> str:
    """The value that an id was made of."""
    return _PACKED_SNOWFLAKE.sub(lambda found: str(int(found[1], 36)), value)


def _to_base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits
