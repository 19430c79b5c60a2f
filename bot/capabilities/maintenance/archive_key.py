"""Encrypt backups and exports with the key of a file, in the format of age (age-encryption.org/v1).

A key file is what `age-keygen` writes: lines with secret keys (AGE-SECRET-KEY-1…), or public ones (age1…), which
encrypt only, so that the secret one need not be on the machine that writes the backups. age encrypts and authenticates
each 64 KiB by themselves, and marks the last ones: a changed byte and a missing end are noticed.
"""

from __future__ import annotations

import os
import stat
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyrage

from bot.errors import BadSetting
from engine.errors import CorruptFile, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from bot.settings import Settings

MAGIC = b"age-encryption.org/v1"
PIECE = 1 << 16  # bytes that age encrypts at once
READABLE_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO
SETTING = "THREADLORE_BACKUP_KEY_FILE"
KEY_HINT = "`threadlore backup-key FILE` or `age-keygen -o FILE` writes one."
NEEDED_HINT = f"Name its key file with --key-file or {SETTING}."


@dataclass(frozen=True, slots=True)
class BackupKey:
    """The keys of a file: `recipients` encrypt; `identities`, which may be none, decrypt."""

    path: Path
    recipients: tuple[Any, ...]
    identities: tuple[Any, ...]


def load_key_file(path: Path) -> BackupKey:
    """Read a key file. Raises BadSetting, also for one with a secret key that others can read."""
    try:
        mode, lines = path.stat().st_mode, path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise BadSetting(f"The key file {path} cannot be read: {reason}.", hint=KEY_HINT) from error
    words = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    secret = [_parse(path, pyrage.x25519.Identity.from_str, word) for word in words if word.startswith("AGE-SECRET")]
    public = [_parse(path, pyrage.x25519.Recipient.from_str, word) for word in words if word.startswith("age1")]
    if not words or len(secret) + len(public) != len(words):
        raise BadSetting(f"The key file {path} holds something that is no key of age.", hint=KEY_HINT)
    if secret and mode & READABLE_BY_OTHERS:
        raise BadSetting(f"Others can read the key file {path}.", hint=f"Run: chmod 600 {path}")
    return BackupKey(path, (*(key.to_public() for key in secret), *public), tuple(secret))


def load_chosen_key(settings: Settings, chosen: Path | None = None) -> BackupKey | None:
    """The key of the chosen file, else of that of the settings; None without one. Raises BadSetting."""
    path = chosen or (Path(settings.backup_key_file) if settings.backup_key_file else None)
    return load_key_file(path.expanduser()) if path else None


def _parse(path: Path, parse: Callable[[str], Any], word: str) -> Any:
    try:
        return parse(word)
    except (pyrage.IdentityError, pyrage.RecipientError) as error:
        raise BadSetting(f"The key file {path} has a key with a mistake in it.", hint=KEY_HINT) from error


def create_key_file(path: Path) -> str:
    """Write a new secret key into a file that does not exist yet; returns the public one. Raises OSError."""
    identity = pyrage.x25519.Identity.generate()
    public = str(identity.to_public())
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"# public key: {public}\n{identity}\n")
    return public


def is_encrypted(path: Path) -> bool:
    """Whether a file begins as files of age do. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def encrypt_file(source: Path, target: Path, key: BackupKey) -> None:
    """Encrypt a file; with a secret key it is then decrypted again, and compared. Raises OSError and StoreError."""
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with source.open("rb") as plain, os.fdopen(descriptor, "wb") as file:
        _encrypt(plain, file, key)
        file.flush()
        os.fsync(file.fileno())
    if not key.identities:
        return
    with source.open("rb") as plain, target.open("rb") as raw, decrypting(target, raw, key) as decrypted:
        if _digest(plain) != _digest(decrypted):
            raise StoreError(f"{target} could not be decrypted again.", hint="Run the command again.")


def _digest(file: BinaryIO) -> bytes:
    digest = sha256()
    while piece := file.read(PIECE):
        digest.update(piece)
    return digest.digest()


def _encrypt(plain: BinaryIO, file: BinaryIO, key: BackupKey) -> None:
    try:
        pyrage.encrypt_io(plain, file, list(key.recipients))
    except pyrage.EncryptError as error:
        raise OSError(str(error)) from error


@contextmanager
def opened(path: Path, key: BackupKey | None) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A file as it is, and what it holds, decrypted if it is encrypted; what was read is good once the block ends.

    Raises StoreError without the right key, CorruptFile if something was changed or the end is missing.
    """
    with path.open("rb") as raw:
        if not is_encrypted(path):
            yield raw, raw
            return
        with decrypting(path, raw, key) as plain:
            yield raw, plain


@contextmanager
def decrypting(path: Path, raw: BinaryIO, key: BackupKey | None) -> Iterator[BinaryIO]:
    """What an encrypted file holds, as a stream; nothing of it is written to a disk. Raises as `opened`."""
    if key is None:
        raise StoreError(f"{path} is encrypted.", hint=NEEDED_HINT)
    if not key.identities:
        raise StoreError(f"{path} is encrypted, and {key.path} holds public keys only.", hint=NEEDED_HINT)
    reader, writer = os.pipe()
    work = _Decryption(path, raw, os.fdopen(writer, "wb"), key)
    thread = threading.Thread(target=work.run, name="decryption", daemon=True)
    thread.start()
    try:
        with os.fdopen(reader, "rb") as plain:
            yield plain
            while plain.read(PIECE):  # the rest is checked, too
                pass
    finally:
        thread.join()
        work.check()  # the reason, if what was read ended too early


class _Decryption:
    """Decrypts a file into a pipe, in a thread of its own; `count`: bytes that were good."""

    def __init__(self, path: Path, raw: BinaryIO, target: BinaryIO, key: BackupKey) -> None:
        self._path = path
        self._raw = raw
        self._target = target
        self._key = key
        self._count = 0
        self._error: Exception | None = None
        self._is_abandoned = False

    def run(self) -> None:
        """Decrypt all of it."""
        try:
            pyrage.decrypt_io(self._raw, self, list(self._key.identities))
        except (pyrage.DecryptError, OSError) as error:
            self._error = error
        finally:
            try:
                self._target.close()
            except BrokenPipeError:
                self._is_abandoned = True

    def write(self, piece: bytes) -> int:
        """Take decrypted bytes."""
        try:
            written = self._target.write(piece)
        except BrokenPipeError:
            self._is_abandoned = True  # nobody reads on
            raise
        self._count += len(piece)
        return written

    def flush(self) -> None:
        """Pass on what was taken."""
        self._target.flush()

    def check(self) -> None:
        """Raise StoreError or CorruptFile if the file could not be decrypted."""
        if self._error is None or self._is_abandoned:
            return
        if "No matching keys" in str(self._error):
            raise StoreError(
                f"{self._path} was encrypted with another key than that of {self._key.path}.", hint=NEEDED_HINT
            ) from self._error
        where = f"within the 64 KiB after its first {self._count:,} bytes" if self._count else "at its beginning"
        raise CorruptFile(
            f"{self._path} was changed or cut off {where} ({self._error}).", hint="Use another copy of the file."
        ) from self._error


@contextmanager
def encrypting(file: BinaryIO, key: BackupKey) -> Iterator[BinaryIO]:
    """A stream whose bytes are encrypted into a file; complete once the block ends. Raises OSError."""
    reader, writer = os.pipe()
    errors = list[OSError]()

    def run() -> None:
        with os.fdopen(reader, "rb") as plain:
            try:
                _encrypt(plain, file, key)
            except OSError as error:
                errors.append(error)

    thread = threading.Thread(target=run, name="encryption", daemon=True)
    thread.start()
    try:
        with os.fdopen(writer, "wb") as plain:
            yield plain
    finally:
        thread.join()
        if errors:
            raise errors[0]
