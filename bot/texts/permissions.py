"""What a platform does not allow the bot, and who can change that. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.i18n import gettext
from bot.text.format import format_list
from bot.text.markdown import sanitize_inline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.errors import PermissionDenied
    from bot.platform.traits import PlatformTraits


def describe_denial(error: PermissionDenied, traits: PlatformTraits, channel: str) -> str:
    """What the platform does not allow the bot in a channel (empty: its name is unknown), for who asked for it."""
    where, manager = _name(channel) or gettext("this channel"), gettext(traits.manager_name)
    if not error.permissions:
        sentence = gettext("I'm not allowed to do that in {channel}. {manager} can check my permissions there.")
        return sentence.format(channel=where, manager=manager)
    sentence = gettext(
        "I can't do that in {channel}: I need the permission {permissions}. {manager} can give it to me."
    )
    return sentence.format(channel=where, permissions=_list(error.permissions), manager=manager)


def describe_lacking(permissions: Sequence[str], traits: PlatformTraits, channel: str | None) -> str:
    """What the bot lacks in a channel (empty: its name is unknown) or in the workspace (None), for managers."""
    where = gettext("this workspace") if channel is None else _name(channel) or gettext("a channel")
    sentence = gettext(
        "I can't do all of my work in {channel}: I need the permission {permissions}. {manager} can give it to me."
    )
    return sentence.format(channel=where, permissions=_list(permissions), manager=gettext(traits.manager_name))


def _name(channel: str) -> str:
    return f"#{sanitize_inline(channel.lstrip('#'))}" if channel else ""


def _list(permissions: Sequence[str]) -> str:
    return format_list([gettext("“{permission}”").format(permission=permission) for permission in permissions])
