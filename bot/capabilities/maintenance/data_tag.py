"""The tag of the data, which tells the backups of several bots in one folder apart: random, or of the database."""

from __future__ import annotations

import re
import secrets
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from bot.errors import file_write_error

if TYPE_CHECKING:
    from pathlib import Path

    from bot.settings import Settings

FILE = "backup-id"  # in the data directory; no backup holds it, so that restored data have a tag of their own
DIGITS = 8
TAG = re.compile(rf"[0-9a-f]{{{DIGITS}}}")
PLACE_WORDS = ("host", "hostaddr", "port", "dbname", "options")  # of an address, without credentials
PLACE_PAIR = re.compile(rf"\b({'|'.join(PLACE_WORDS)})\s*=\s*('(?:[^'\\]|\\.)*'|\S+)")


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
