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

LONGEST = 100  # characters of an id
LABEL = 80
MOST = 25
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_NUMBER = re.compile(r"(?<!\d)[1-9]\d{15,19}(?!\d)")
_PACKED = re.compile(r"~([0-9a-z]+)~")


class Presses(Protocol):
    """Who wants to know that a button was pressed."""

    async def pressed(self, interaction: discord.Interaction[Any], action: str, value: str) -> None:
        """Somebody pressed it."""


class Pressed(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"tl:(?P<action>[a-z-]+):(?P<value>.*)"):
    """A button of ours, made anew from its id when somebody presses it."""

    def __init__(self, action: str, value: str, label: str = "") -> None:
        button = discord.ui.Button[Any](label=label[:LABEL] or None, custom_id=packed(action, value))
        super().__init__(button)
        self.action = action
        self.value = value

    @classmethod
    async def from_custom_id(
        cls, _interaction: discord.Interaction[Any], _item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Pressed:
        """The button that was pressed."""
        return cls(match["action"], unpacked(match["value"]), "…")

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Pass it on."""
        await cast("Presses", interaction.client).pressed(interaction, self.action, self.value)


def view(buttons: Sequence[Button]) -> discord.ui.View | None:
    """Buttons below a message, or None without any; one whose id would be too long is left out, and logged."""
    fitting = [button for button in buttons if len(packed(button.action, button.value)) <= LONGEST]
    if len(fitting) < len(buttons):
        log.warning("buttons_too_long", actions=[button.action for button in buttons if button not in fitting])
    if not fitting:
        return None
    shown = discord.ui.View(timeout=None)
    for button in fitting[:MOST]:
        shown.add_item(Pressed(button.action, button.value, button.label))
    return shown


def packed(action: str, value: str) -> str:
    """The id of a button; Discord's own long numbers in it are written shorter where it would not fit."""
    whole = f"tl:{action}:{value}"
    if len(whole) <= LONGEST:
        return whole
    return f"tl:{action}:" + _NUMBER.sub(lambda found: f"~{_shorter(int(found[0]))}~", value)


def unpacked(value: str) -> str:
    """The value that an id was made of."""
    return _PACKED.sub(lambda found: str(int(found[1], 36)), value)


def _shorter(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits
