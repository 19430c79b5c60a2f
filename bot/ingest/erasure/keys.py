"""The key of this installation: it signs receipts, and turns ids into names that nobody else can compute.

An id may tell something: that of a file holds its name, and a hash without a key can be guessed. So receipts hold keyed
hashes (HMAC) of ids. The key is made at first use, and readable by its owner alone.
"""

from __future__ import annotations

import hmac
import os
import tempfile
from base64 import b64decode, b64encode, urlsafe_b64encode
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import BadSetting

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_FILE = "receipt.key"  # in the data directory
SEED_BYTES, NAME_BYTES, KEY_ID_LENGTH = 32, 16, 16
PREFIX = "threadlore-receipt-key-1 "


@dataclass(frozen=True, slots=True)
class InstallationKey:
    """The secret of an installation."""

    seed: bytes = field(repr=False)

    @property
    def public_key(self) -> str:
        """The public key (Ed25519) in base64."""
        return b64encode(self._open().public_key().public_bytes_raw()).decode()

    @property
    def id(self) -> str:
        """The id of the key, which receipts name."""
        return compute_key_id(self.public_key)

    def sign(self, message: bytes) -> str:
        """The signature of a message, in base64."""
        return b64encode(self._open().sign(message)).decode()

    def compute_name(self, kind: str, *ids: str) -> str:
        """The name of something in receipts: a keyed hash of its ids, equal for equal ones."""
        key = hmac.digest(self.seed, b"names of what was erased", "sha256")
        found = hmac.digest(key, "\0".join((kind, *ids)).encode(), "sha256")
        return urlsafe_b64encode(found[:NAME_BYTES]).decode().rstrip("=")

    def _open(self) -> Ed25519PrivateKey:
        # Most commands and most hours of a bot sign nothing; the library takes 9 MiB.
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

        return Ed25519PrivateKey.from_private_bytes(self.seed)


def find_key_path(home: Path, chosen: str) -> Path:
    """The file of the key of the installation with this data directory: the chosen one, or one in it."""
    return Path(chosen).expanduser() if chosen else home / KEY_FILE


def compute_key_id(public_key: str) -> str:
    """The id of a public key."""
    return sha256(public_key.encode()).hexdigest()[:KEY_ID_LENGTH]


def is_signed(message: bytes, signature: str, public_key: str) -> bool:
    """Whether a message has this signature by this key; False for what is none."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  - as above
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        Ed25519PublicKey.from_public_bytes(b64decode(public_key, validate=True)).verify(
            b64decode(signature, validate=True), message
        )
    except (ValueError, InvalidSignature):
        return False
    return True


def load_key(path: Path) -> InstallationKey | None:
    """The key in a file; None if there is no file. Raises BadSetting for a file that holds something else."""
    try:
        text = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path) from error
    try:
        seed = b64decode(text.removeprefix(PREFIX), validate=True)
    except ValueError as error:
        raise _unusable(path) from error
    if not text.startswith(PREFIX) or len(seed) != SEED_BYTES:
        raise _unusable(path)
    return InstallationKey(seed)


def load_or_create_key(path: Path) -> InstallationKey:
    """The key in a file, which is made at first use; of several processes, one makes it. Raises BadSetting, OSError."""
    if (known := load_key(path)) is not None:
        return known
    text = f"{PREFIX}{b64encode(os.urandom(SEED_BYTES)).decode()}\n"
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mode 600
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            path.hardlink_to(draft)
    finally:
        draft.unlink()
    made = load_key(path)
    if made is None:
        raise _unusable(path)
    return made


def _unusable(path: Path) -> BadSetting:
    return BadSetting(
        f"The file {path} holds no key for receipts.",
        hint="Restore it from a backup. Without it, receipts of the past cannot be compared with the data.",
    )
