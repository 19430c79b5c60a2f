"""Which files of folders and repositories are left out by their names: hidden ones, and those with secrets. Pure."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import PurePosixPath

PRIVATE_FILES = (
    *("*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "*.keystore", "*.jks"),
    *("id_rsa", "id_ed25519", "id_ecdsa"),
)
LEFT_OUT = "Its name says that it may hold secrets."
SEPARATE = "It is a repository of its own: add it as a source to have it read."


def is_hidden(path: str) -> bool:
    """Whether a file, or a folder above it, is hidden; `path`: relative, with slashes."""
    return any(part.startswith(".") for part in PurePosixPath(path).parts)


def find_withheld_reason(path: str) -> str:
    """Why a file is not read, as a sentence; empty for others."""
    name = PurePosixPath(path).name.lower()
    return LEFT_OUT if any(fnmatchcase(name, file) for file in PRIVATE_FILES) else ""
