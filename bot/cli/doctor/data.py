"""Checks of the data: the database, work that was given up, backups, and the encryption of the volume."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from bot.capabilities.maintenance.rotation import (
    find_backup_dir,
    find_newest,
    find_tag,
    list_backups,
    list_tags,
    read_time,
)
from bot.capabilities.requests import AtSpace, GetStatus
from bot.capabilities.results import StatusResult
from bot.cli.doctor.finding import Finding
from bot.rpc.ledger_service import LedgerService, connect_or_open_ledger
from bot.rpc.socket import find_service
from bot.text.format import pluralize
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.cli.doctor.finding import CheckContext
    from bot.rpc.service import AdminService
    from bot.settings import Settings


DATABASE_SECONDS = 30.0  # until it answers
LATE_FACTOR = 2.0  # intervals after which a backup is late
WITHOUT_SCHEDULE_DAYS = 7  # after which the last one is old
ELSEWHERE = "Backups at other places are not seen here."
SCHEDULE_HINT = "Set THREADLORE_BACKUP_EVERY, or use threadlore backup; a database has tools of its own."
SYS, MOUNTS = Path("/sys"), Path("/proc/self/mountinfo")
ENCRYPTING = frozenset({"ecryptfs", "fuse.gocryptfs", "fuse.encfs", "fuse.cryfs"})  # types of file systems
ESCAPED = re.compile(r"\\([0-7]{3})")
MAX_DEPTH = 8  # of devices on devices


async def check_database(context: CheckContext) -> Finding:
    """Whether the database can be opened, or the process that holds it answers; and what was given up."""
    settings, name = context.settings, "database"
    where = "PostgreSQL" if settings.database.get_secret_value() else str(settings.data_path)
    is_new = where != "PostgreSQL" and not (settings.data_path / "ledger.db").exists()
    if is_new and await find_service(settings.data_path) is None:
        return Finding(name, "ok", "There are no data yet.")
    try:
        async with asyncio.timeout(DATABASE_SECONDS), connect_or_open_ledger(settings, context.clock) as service:
            documents, given_up = await _count(service, settings.space)
    except EngineError as error:
        return Finding(name, "failed", str(error), error.hint or "Look at docs/operations.md, Faults.")
    except TimeoutError:
        return Finding(name, "failed", f"{where} did not answer within {DATABASE_SECONDS:.0f} seconds.", "Restart it.")
    if given_up:
        text = f"{where} answers; of {pluralize(given_up, 'document')} or names something was given up."
        return Finding(name, "warning", text, "threadlore status --problems lists it, threadlore retry tries again.")
    return Finding(name, "ok", f"{where} answers; {pluralize(documents, 'document')} in {settings.space}.")


async def _count(service: AdminService, space: str) -> tuple[int, int]:
    """The documents of a space, and what was given up: of all data, or of the space if another process holds them."""
    documents = given_up = 0
    async with aclosing(service.perform(AtSpace(space, GetStatus()))) as results:
        async for result in results:
            if isinstance(result, StatusResult):
                documents, given_up = sum(result.status.documents.values()), result.status.failed
    if isinstance(service, LedgerService):
        given_up = await service.ledger.work.count_given_up()
    return documents, given_up


async def check_backups(context: CheckContext) -> Finding:
    """Whether there is a backup, and how old the newest one is."""
    try:
        return _judge_backups(context, await asyncio.to_thread(_list_backups, context.settings))
    except EngineError as error:
        return Finding("backups", "unknown", f"Which are those of this bot is not known: {error}", error.hint)


def _judge_backups(context: CheckContext, found: list[Path]) -> Finding:
    settings, name = context.settings, "backups"
    folder, now = find_backup_dir(settings), context.clock.now()
    if not found and settings.backup_seconds:
        return Finding(name, "warning", f"There is none in {folder} yet.", "The bot makes one while it runs.")
    if not found:
        return Finding(name, "warning", f"None are scheduled. {ELSEWHERE}", SCHEDULE_HINT)
    if (newest := find_newest(found, now)) is None:
        text = f"All {len(found)} in {folder} are of the future: the clock was set back."
        return Finding(name, "warning", text, "Compare the clock with another one, and make a backup.")
    age = (now - read_time(newest)).total_seconds()
    text = f"The newest of {len(found)} in {folder} is {format_age(age)} old."
    if settings.backup_seconds and age > LATE_FACTOR * settings.backup_seconds:
        return Finding(name, "warning", text, "The log says why the last one failed: backups.failed.")
    if not settings.backup_seconds and age > WITHOUT_SCHEDULE_DAYS * 86400.0:
        return Finding(name, "warning", f"{text} None are scheduled any more. {ELSEWHERE}", SCHEDULE_HINT)
    return Finding(name, "ok", text)


def _list_backups(settings: Settings) -> list[Path]:
    return list_backups(find_backup_dir(settings), list_tags(settings, find_tag(settings)))


def format_age(seconds: float) -> str:
    """An age for people, in the largest unit that fits."""
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            return pluralize(int(seconds // size), unit)
    return "less than a minute"


async def check_encryption(context: CheckContext) -> Finding:
    """Whether the volume of the data is encrypted."""
    name, folder = "encryption", context.settings.data_path
    folder = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if sys.platform != "linux":
        return Finding(name, "unknown", "Whether the volume is encrypted is not known on this system.")
    if await asyncio.to_thread(is_encrypted, folder):
        return Finding(name, "ok", "The volume of the data is encrypted.")
    hint = "Linux encrypts by LUKS; what a cloud or hardware encrypts cannot be seen here."
    return Finding(name, "unknown", "Linux does not encrypt the volume of the data.", hint)


def is_encrypted(folder: Path, system: Path = SYS, mounts: Path = MOUNTS) -> bool:
    """Whether dm-crypt, or an encrypting file system, holds the folder; False if that is not so, or not known.

    Swap, the disks of a cloud and hardware that encrypts by itself are not seen.
    """
    kind, source = _find_mount(folder.resolve(), mounts)
    if kind in ENCRYPTING:
        return True
    number = folder.stat().st_dev
    if not os.major(number) and source.startswith("/dev/"):  # a file system of several devices, such as btrfs
        try:
            number = Path(source).stat().st_rdev
        except OSError:  # the device is not shown here, as within a container
            return False
    device = system / "dev/block" / f"{os.major(number)}:{os.minor(number)}"
    return device.exists() and _is_crypt(device.resolve(), MAX_DEPTH)


def _is_crypt(device: Path, depth: int) -> bool:
    """Whether a device is one of dm-crypt, or lies on nothing but such devices."""
    name = device / "dm/uuid"
    if name.is_file() and name.read_text(encoding="ascii", errors="replace").startswith("CRYPT-"):
        return True
    below = [path.resolve() for path in (device / "slaves").glob("*")]
    return bool(below and depth) and all(_is_crypt(lower, depth - 1) for lower in below)


def _find_mount(folder: Path, mounts: Path) -> tuple[str, str]:
    """The type and the source of the file system of a folder; empty if they are not known."""
    found, longest = ("", ""), -1
    for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines() if mounts.is_file() else ():
        left, _, right = line.partition(" - ")
        fields, kinds = left.split(), right.split()
        place = Path(ESCAPED.sub(lambda code: chr(int(code[1], 8)), fields[4])) if len(fields) > 4 else None
        if place is not None and len(kinds) > 1 and folder.is_relative_to(place) and len(place.parts) >= longest:
            found, longest = (kinds[0], kinds[1]), len(place.parts)
    return found
