"""The folder of scheduled backups: their names, whose data they are by its tag, and which of them are kept."""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from bot.errors import file_write_error

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bot.settings import Settings


FOLDER = "backups"
TIME_FORMAT = "%Y%m%dT%H%M%SZ"  # UTC
NAME = re.compile(r"threadlore-([0-9a-f]{8})-(\d{8}T\d{6}Z)\.tar\.gz(?:\.age)?")  # encrypted ones, too
MAX_AHEAD = timedelta(minutes=1)  # by which the clock of another process may differ
FILE = "backup-id"  # in the data directory; no backup holds it, so that restored data have a tag of their own
DIGITS = 8
TAG = re.compile(rf"[0-9a-f]{{{DIGITS}}}")
PLACE_WORDS = ("host", "hostaddr", "port", "dbname", "options")  # of an address, without credentials
PLACE_PAIR = re.compile(rf"\b({'|'.join(PLACE_WORDS)})\s*=\s*('(?:[^'\\]|\\.)*'|\S+)")


def find_backup_dir(settings: Settings) -> Path:
    """The folder of scheduled backups."""
    return Path(settings.backup_dir).expanduser().absolute() if settings.backup_dir else settings.data_path / FOLDER


def list_tags(settings: Settings, tag: str) -> tuple[str, ...]:
    """The tags of the backups that are those of the data with this tag: in a folder of its own, earlier ones, too."""
    return (tag,) if settings.backup_dir else (tag, find_former_tag(settings))


def name_backup(tag: str, now: datetime, *, is_encrypted: bool = False) -> str:
    """The name of a backup; those of a tag sort by time."""
    return f"threadlore-{tag}-{now.strftime(TIME_FORMAT)}.tar.gz{'.age' if is_encrypted else ''}"


def list_backups(folder: Path, tags: Collection[str]) -> list[Path]:
    """The scheduled backups with one of these tags in a folder, the oldest first; other files are not looked at.

    Raises OSError for a folder that cannot be read.
    """
    try:
        found = [path for path in folder.iterdir() if _is_of(path, tags) and path.is_file()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=lambda each: (read_time(each), each.name))


def _is_of(path: Path, tags: Collection[str]) -> bool:
    if (match := NAME.fullmatch(path.name)) and match[1] in tags:
        with suppress(ValueError):  # a day that does not exist
            return bool(read_time(path))
    return False


def read_time(backup: Path) -> datetime:
    """The time at which a backup was begun, by its name: a copy keeps it."""
    return datetime.strptime(backup.name.split("-")[2].split(".")[0], TIME_FORMAT).replace(tzinfo=UTC)


def is_future(backup: Path, now: datetime) -> bool:
    """Whether a backup is of the future: it was written before the clock was set back. Pure."""
    return read_time(backup) > now + MAX_AHEAD


def find_newest(backups: Sequence[Path], now: datetime) -> Path | None:
    """The newest backup that is not of the future; None without one. Pure."""
    return max((backup for backup in backups if not is_future(backup, now)), key=read_time, default=None)


def select_expired(backups: Sequence[Path], keep: int, now: datetime) -> Sequence[Path]:
    """The backups that are not kept: the oldest ones, before which those of the future go. Pure."""
    ordered = sorted(backups, key=lambda each: (not is_future(each, now), read_time(each)))
    return ordered[: max(0, len(ordered) - keep)]


def find_tag(settings: Settings, *, create: bool = False) -> str:
    """The tag of the data: eight hexadecimal digits; empty while a data directory has none, unless `create`. May block.

    That of a database is a hash of what its server says of itself. Raises StoreError, and DiskError if the tag cannot
    be written.
    """
    if address := settings.database.get_secret_value():
        from bot.store.postgres import read_identity  # noqa: PLC0415 - it needs the extra `postgres`

        return _shorten(read_identity(address) or describe_place(address))
    path = settings.data_path / FILE
    return _read(path) or (_write(path) if create else "")


def find_former_tag(settings: Settings) -> str:
    """The tag by which earlier versions called the data, which other bots may have, too. Pure."""
    address = settings.database.get_secret_value()
    return _shorten(describe_place(address) if address else str(settings.data_path.resolve()))


def describe_place(address: str) -> str:
    """The address of a database without credentials. Pure."""
    if "://" not in address:  # words such as host=… dbname=…
        return " ".join(f"{name}={value}" for name, value in sorted(PLACE_PAIR.findall(address)))
    parts = urlsplit(address)
    query = sorted(pair for pair in parse_qsl(parts.query) if pair[0] in PLACE_WORDS)
    return f"{parts.netloc.rpartition('@')[2].lower()}{parts.path}{query or ''}"


def _read(path: Path) -> str:
    try:
        found = path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
    return found if TAG.fullmatch(found) else ""


def _write(path: Path) -> str:
    tag = secrets.token_hex(DIGITS // 2)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(f"{tag}\n", encoding="utf-8")
    except OSError as error:
        raise file_write_error(path, error) from error
    return tag


def _shorten(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:DIGITS]
