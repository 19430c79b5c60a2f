"""Telling Discord of the commands, and only when they are others than last time: it allows few changes a day."""

from __future__ import annotations

import asyncio
import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import structlog

from adapters.discord.api.calls import call_with_retries
from bot.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from discord import app_commands

log = structlog.get_logger(__name__)

SYNC_FILE = "discord-commands.json"


async def sync_commands(tree: app_commands.CommandTree[Any], data_dir: Path, application: str) -> bool:
    """Make the application's commands those of the tree; whether anything was said.

    What was said last is kept in a file of the folder, by server and application. A refusal is logged: the
    commands stay as they were.
    """
    digest, digests = commands_digest(tree), await asyncio.to_thread(_read, data_dir / SYNC_FILE)
    if digests.get(application) == digest:
        return False
    try:
        await call_with_retries("to register commands", tree.sync)
    except PlatformError as error:
        log.warning("discord.command_registration_failed", error=str(error), hint=error.hint)
        return False
    await asyncio.to_thread(_write, data_dir / SYNC_FILE, {**digests, application: digest})
    return True


def commands_digest(tree: app_commands.CommandTree[Any]) -> str:
    """Tells two sets of commands apart."""
    commands = [command.to_dict(tree) for command in tree.get_commands()]
    return sha256(json.dumps(commands, sort_keys=True, default=str).encode()).hexdigest()


def _read(path: Path) -> Mapping[str, str]:
    """What the file says; nothing if it cannot be read, for then everything is said anew."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, digests: Mapping[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(digests, indent=2), encoding="utf-8")
