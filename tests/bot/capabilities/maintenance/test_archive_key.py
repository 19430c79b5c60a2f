"""What is encrypted with a key file comes back with it alone, and a changed byte or a missing end is named."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pyrage
import pytest

from bot.capabilities.maintenance import archive_format
from bot.capabilities.maintenance.archive_key import (
    PIECE,
    BackupKey,
    create_key_file,
    encrypt_file,
    encrypting,
    is_encrypted,
    load_key_file,
    opened,
)
from bot.errors import BadSetting
from engine.errors import CorruptFile, EngineError, StoreError

CONTENT = bytes(range(256)) * 1024  # four pieces of age


@pytest.fixture
def key(tmp_path: Path) -> BackupKey:
    create_key_file(tmp_path / "key.txt")
    return load_key_file(tmp_path / "key.txt")


@pytest.fixture
def sealed(tmp_path: Path, key: BackupKey) -> Path:
    (tmp_path / "plain").write_bytes(CONTENT)
    encrypt_file(tmp_path / "plain", tmp_path / "sealed", key)
    return tmp_path / "sealed"


def read(path: Path, key: BackupKey | None) -> bytes:
    with opened(path, key) as (_, plain):
        return plain.read()


def test_a_file_comes_back_with_its_key_and_is_one_that_age_reads(sealed: Path, key: BackupKey, tmp_path: Path) -> None:
    assert is_encrypted(sealed)
    assert sealed.stat().st_mode & 0o077 == 0
    assert read(sealed, key) == CONTENT
    assert pyrage.decrypt(sealed.read_bytes(), list(key.identities)) == CONTENT
    assert CONTENT[:1000] not in sealed.read_bytes()
    assert read(tmp_path / "plain", None) == CONTENT, "what is not encrypted needs no key"


def test_without_the_right_key_it_says_so(sealed: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is encrypted") as caught:
        read(sealed, None)
    assert "--key-file" in caught.value.hint
    public = create_key_file(tmp_path / "other.txt")
    with pytest.raises(StoreError, match=r"another key than that of .*other\.txt"):
        read(sealed, load_key_file(tmp_path / "other.txt"))
    (tmp_path / "public.txt").write_text(f"{public}\n")
    with pytest.raises(StoreError, match="public keys only"):
        read(sealed, load_key_file(tmp_path / "public.txt"))


@pytest.mark.parametrize("place", [30, 300, PIECE + 500, -1])
def test_a_changed_byte_is_named_wherever_it_is(sealed: Path, key: BackupKey, place: int) -> None:
    content = bytearray(sealed.read_bytes())
    content[place] ^= 1
    sealed.write_bytes(content)
    with pytest.raises(EngineError, match=r"changed or cut off|another key"):
        read(sealed, key)


@pytest.mark.parametrize("kept", [100, PIECE, PIECE + 16 + 200, 3 * PIECE, -1])
def test_a_missing_end_is_named(sealed: Path, key: BackupKey, kept: int) -> None:
    sealed.write_bytes(sealed.read_bytes()[:kept])
    with pytest.raises(CorruptFile, match="changed or cut off"):
        read(sealed, key)


def test_whoever_reads_only_the_beginning_still_learns_that_the_rest_is_bad(sealed: Path, key: BackupKey) -> None:
    sealed.write_bytes(sealed.read_bytes()[:-5])
    with pytest.raises(CorruptFile, match="after its first 196,608 bytes"), opened(sealed, key) as (_, plain):
        assert plain.read(10) == CONTENT[:10]


def test_an_encrypted_file_that_is_no_archive_is_called_that(sealed: Path, key: BackupKey, tmp_path: Path) -> None:
    with pytest.raises(CorruptFile, match="is not a backup"):
        archive_format.read_archive(sealed, tmp_path, ("ledger.db",), key)


def test_a_public_key_alone_encrypts(tmp_path: Path) -> None:
    public = create_key_file(tmp_path / "key.txt")
    (tmp_path / "public.txt").write_text(f"# of the vault\n{public}\n")
    (tmp_path / "plain").write_bytes(CONTENT)
    encrypt_file(tmp_path / "plain", tmp_path / "sealed", load_key_file(tmp_path / "public.txt"))
    assert read(tmp_path / "sealed", load_key_file(tmp_path / "key.txt")) == CONTENT


def test_a_stream_is_encrypted_as_it_comes_and_a_full_disk_ends_it(key: BackupKey) -> None:
    file = BytesIO()
    with encrypting(file, key) as plain:
        for start in range(0, len(CONTENT), 1000):
            plain.write(CONTENT[start : start + 1000])
    assert pyrage.decrypt(file.getvalue(), list(key.identities)) == CONTENT
    with Path("/dev/full").open("wb", buffering=0) as full, pytest.raises(OSError), encrypting(full, key) as plain:  # noqa: PT011 - whichever comes first
        plain.write(CONTENT)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "no key of age"),
        ("hunter2", "no key of age"),
        ("AGE-SECRET-KEY-1FOO", "mistake"),
        ("age1foo", "mistake"),
        (None, "cannot be read"),
    ],
)
def test_a_key_file_that_cannot_be_used_is_named(tmp_path: Path, content: str | None, named: str) -> None:
    path = tmp_path / "key.txt"
    if content is not None:
        path.write_text(content)
        path.chmod(0o600)
    with pytest.raises(BadSetting, match=named):
        load_key_file(path)


def test_a_secret_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    create_key_file(tmp_path / "key.txt")
    (tmp_path / "key.txt").chmod(0o644)
    with pytest.raises(BadSetting, match="Others can read") as caught:
        load_key_file(tmp_path / "key.txt")
    assert "chmod 600" in caught.value.hint
    with pytest.raises(FileExistsError):
        create_key_file(tmp_path / "key.txt")
