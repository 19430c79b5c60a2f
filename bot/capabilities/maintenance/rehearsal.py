"""Rehearse a restore: into a temporary folder, which is deleted afterwards."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.capabilities.maintenance import archive
from bot.store import BotStore
from engine.errors import DiskError
from engine.storage.disk import disk_error
from engine.storage.ledger import Ledger

if TYPE_CHECKING:
    from datetime import datetime

    from bot.capabilities.maintenance.archive_key import BackupKey
    from engine import Clock

PLACE_HINT = "Set TMPDIR to a folder with more space, such as TMPDIR=/var/tmp threadlore restore --check FILE."


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a backup holds: its documents, the time of the newest one, and whether a bot's data is in it."""

    documents: int
    newest: datetime | None
    has_bot: bool


async def rehearse_restore(path: Path, clock: Clock, key: BackupKey | None = None) -> Rehearsal:
    """Restore a backup where nobody needs it, and open it as this version does. `key`: of an encrypted one.

    The indexes, which a restore rebuilds, are not built. Raises what `restore_backup` does, and StoreError; DiskError
    says how to choose another folder.
    """
    try:
        return await _rehearse(path, clock, key)
    except DiskError as error:
        raise type(error)(str(error), hint=PLACE_HINT) from error
    except OSError as error:
        raise disk_error("The backup cannot be unpacked", Path(tempfile.gettempdir()), error) from error


async def _rehearse(path: Path, clock: Clock, key: BackupKey | None) -> Rehearsal:
    with tempfile.TemporaryDirectory(prefix="threadlore-rehearsal-") as temporary:
        home = Path(temporary) / "home"
        await asyncio.to_thread(archive.restore_backup, path, home, key=key)
        ledger = await Ledger.open(home / archive.LEDGER_FILE, clock=clock)
        try:
            documents, newest = await ledger.stats.count_documents()
        finally:
            await ledger.close()
        has_bot = (home / archive.BOT_FILE).exists()
        if has_bot:
            async with BotStore.open(home / archive.BOT_FILE, clock):
                pass  # it opens, with all migrations
        return Rehearsal(documents, newest, has_bot)
