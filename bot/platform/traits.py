"""What differs between platforms, as a record that each adapter supplies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.i18n import N_

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _always(_: str) -> bool:
    return True


def _same(part: str) -> str:
    return part


@dataclass(frozen=True, slots=True)
class PlatformTraits:
    """How people use the bot on a platform. The defaults fit a platform with plain slash commands.

    Sentences are English; they are translated where they are shown.

    `argument_names`: by command, where the platform wants arguments named (`/forget what:…`), in their order.
    `private_ask_hint`: how to ask so that only the asker sees the answer; completes "Ask me in a direct message, or".
    `reads_by_default`: False where channels are read only once a manager enables them.
    `reads_past`: whether the past of a channel of a workspace is read without being asked for.
    `commands_take_files`: whether a file can be attached to a command.
    `manager_name`: who can enable a channel. `usage_heading`: the line above the list of commands.
    `features`: what can be done besides commands, a line of the help each.
    `max_form_fields`: of one form; 0 where there are no forms. `max_field_length`: characters that a field can show.
    `parse_link_part`: the message id that a part of a message link's path stands for.
    """

    command_prefix: str = "/"
    argument_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    private_ask_hint: str = N_("privately with my command")
    reads_by_default: bool = True
    reads_past: Callable[[str], bool] = _always
    commands_take_files: bool = False
    manager_name: str = N_("An admin")
    usage_heading: str = N_("Mention me with a question, or:")
    features: tuple[str, ...] = ()
    max_form_fields: int = 0
    max_field_length: int = 0
    parse_link_part: Callable[[str], str] = _same

    def format_command(self, words: str) -> str:
        """A command with its arguments as it is typed on the platform."""
        command, *rest = words.split(" ", 1)
        names = self.argument_names.get(command, ())
        if not (rest and names):
            return self.command_prefix + words
        values = rest[0].split(" ", len(names) - 1)
        named = (f"{name}:{value}" for name, value in zip(names, values, strict=False))
        return f"{self.command_prefix}{command} {' '.join(named)}"
