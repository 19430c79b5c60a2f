from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.cli.doctor.data import is_encrypted


def make_device(system: Path, name: str, uuid: str = "", below: tuple[str, ...] = ()) -> Path:
    """A block device as the kernel shows it, on others that exist already."""
    device = system / "devices" / name
    (device / "slaves").mkdir(parents=True)
    if uuid:
        (device / "dm").mkdir()
        (device / "dm/uuid").write_text(f"{uuid}\n")
    for text in below:
        (device / "slaves" / text).symlink_to(system / "devices" / text)
    return device


def mount(system: Path, device: Path, folder: Path) -> None:
    """Let the folder lie on a device."""
    number = folder.stat().st_dev
    place = system / "dev/block" / f"{os.major(number)}:{os.minor(number)}"
    place.parent.mkdir(parents=True)
    place.symlink_to(device)


@pytest.mark.parametrize(
    ("uuid", "below", "encrypted"),
    [
        ("CRYPT-LUKS2-0123456789abcdef-data", (), True),
        ("LVM-abcdef", ("crypt",), True),
        ("LVM-abcdef", ("crypt", "plain"), False),
        ("LVM-abcdef", (), False),
        ("", (), False),
    ],
)
def test_a_volume_is_encrypted_if_all_that_it_lies_on_is(
    tmp_path: Path, uuid: str, below: tuple[str, ...], *, encrypted: bool
) -> None:
    system = tmp_path / "sys"
    make_device(system, "crypt", "CRYPT-LUKS2-0-a")
    make_device(system, "plain")
    mount(system, make_device(system, "top", uuid, below), tmp_path)
    assert is_encrypted(tmp_path, system, tmp_path / "none") == encrypted


@pytest.mark.parametrize(("kind", "encrypted"), [("fuse.gocryptfs", True), ("ext4", False)])
def test_a_file_system_that_encrypts_is_known_by_its_type(tmp_path: Path, kind: str, *, encrypted: bool) -> None:
    mounts = tmp_path / "mountinfo"
    folder = tmp_path / "a b"
    folder.mkdir()
    place = str(folder).replace(" ", "\\040")
    mounts.write_text(f"1 0 0:1 / / rw - ext4 none rw\n2 1 0:2 / {place} rw,relatime shared:1 - {kind} none rw\n")
    assert is_encrypted(folder, tmp_path / "none", mounts) == encrypted
    assert not is_encrypted(tmp_path, tmp_path / "none", mounts)


def test_a_device_that_is_not_there_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text("1 0 0:1 / / rw - btrfs /dev/absent-here rw\n")
    monkeypatch.setattr(os, "major", lambda _: 0)
    assert not is_encrypted(tmp_path, tmp_path / "none", mounts)
