"""Buttons that work after a restart: action and value are encoded in the custom id."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol, cast

import discord
import structlog

from bot.platform.models import SUGGESTION_ACTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.platform.models import Button

log = structlog.get_logger(__name__)

MAX_ID_LENGTH = 100  # characters of a custom id
MAX_LABEL_LENGTH = 80
MAX_BUTTONS, ROW_LENGTH, MAX_ROWS = 25, 5, 5
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_SNOWFLAKE = re.compile(r"(?<!\d)[1-9]\d{15,19}(?!\d)")
_PACKED_SNOWFLAKE = re.compile(r"~([0-9a-z]+)~")


class ButtonHandler(Protocol):
    """Receives button presses; implemented by the client."""

    async def handle_button(self, interaction: discord.Interaction[Any], action: str, value: str) -> None:
        """Handle a press."""


class ActionButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"tl:(?P<action>[a-z-]+):(?P<value>.*)"):
    """A button of the bot, rebuilt from its custom id when pressed."""

    def __init__(self, action: str, value: str, label: str = "", row: int | None = None) -> None:
        button = discord.ui.Button[Any](
            label=label[:MAX_LABEL_LENGTH] or None, custom_id=encode_custom_id(action, value)
        )
        super().__init__(button, row=row)
        self.action = action
        self.value = value

    @classmethod
    async def from_custom_id(
        cls, _interaction: discord.Interaction[Any], _item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> ActionButton:
        """Rebuild a pressed button."""
        return cls(match["action"], decode_value(match["value"]), "…")

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Pass the press to the client."""
        await cast("ButtonHandler", interaction.client).handle_button(interaction, self.action, self.value)


def build_view(buttons: Sequence[Button]) -> discord.ui.View | None:
    """Build the view of a message's buttons, suggested questions in the last row; None without any.

    Buttons with too long ids are dropped and logged.
    """
    fitting = [button for button in buttons if len(encode_custom_id(button.action, button.value)) <= MAX_ID_LENGTH]
    if len(fitting) < len(buttons):
        log.warning("discord.buttons_dropped", actions=[button.action for button in buttons if button not in fitting])
    if not fitting:
        return None
    view = discord.ui.View(timeout=None)
    others = [button for button in fitting if button.action != SUGGESTION_ACTION][:MAX_BUTTONS]
    row = -(-len(others) // ROW_LENGTH)  # the first row below the others
    suggested = [button for button in fitting if button.action == SUGGESTION_ACTION] if row < MAX_ROWS else []
    for button in others:
        view.add_item(ActionButton(button.action, button.value, button.label))
    for button in suggested[:ROW_LENGTH]:
        view.add_item(ActionButton(button.action, button.value, button.label, row))
    return view


def encode_custom_id(action: str, value: str) -> str:
    """Encode a custom id; Discord ids in it are packed as base 36 if it would be too long."""
    custom_id = f"tl:{action}:{value}"
    return custom_id if len(custom_id) <= MAX_ID_LENGTH else f"tl:{action}:{pack_value(value)}"


def pack_value(value: str) -> str:
    """Pack the Discord ids in a value; `decode_value` is the inverse."""
    return _SNOWFLAKE.sub(lambda found: f"~{_to_base36(int(found[0]))}~", value)


def decode_value(value: str) -> str:
    """Decode the value of a custom id."""
    return _PACKED_SNOWFLAKE.sub(lambda found: str(int(found[1], 36)), value)


def _to_base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits
