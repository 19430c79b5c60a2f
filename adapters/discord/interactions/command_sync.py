"""Register the slash commands, only when they have changed: Discord limits registrations per day."""

from __future__ import annotations

import asyncio
import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import structlog

from adapters.discord.calls import call_with_retries
from bot.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from discord import app_commands

log = structlog.get_logger(__name__)

SYNC_FILE = "discord-commands.json"


async def sync_commands(tree: app_commands.CommandTree[Any], data_dir: Path, application: str) -> bool:
    """Register the tree's commands if they have changed since the last run; whether they were registered.

    Digests are kept in SYNC_FILE in `data_dir`; `application` is the key of a server and application. A refusal is
    logged, and the registered commands stay as they are.
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
    """Hash all commands, to detect changes."""
    commands = [command.to_dict(tree) for command in tree.get_commands()]
    return sha256(json.dumps(commands, sort_keys=True, default=str).encode()).hexdigest()


def _read(path: Path) -> Mapping[str, str]:
    """Read the digests; empty if the file cannot be read, so that all commands are registered again."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, digests: Mapping[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(digests, indent=2), encoding="utf-8")
