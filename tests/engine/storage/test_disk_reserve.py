from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.errors import DiskFull
from engine.storage.disk import Disk
from engine.storage.disk_reserve import DiskReserve

MIB = 1 << 20
SIZE = 8 * MIB
PLENTY = 100 * MIB


@dataclass
class SmallDisk:
    """A disk of so many free bytes, on which only the reserve lies."""

    home: Path
    free: int = PLENTY
    read_only: bool = False
    reserve: DiskReserve = field(init=False)

    def __post_init__(self) -> None:
        self.reserve = self.open()

    def open(self, size: int = SIZE) -> DiskReserve:
        opened = DiskReserve(self.home, size, self.find)
        opened.refresh()
        return opened

    def find(self, _: Path) -> Disk:
        file = self.home / "reserve"
        return Disk(Path("/data"), self.free - (file.stat().st_size if file.exists() else 0), self.read_only)


@pytest.fixture
def disk(tmp_path: Path) -> SmallDisk:
    return SmallDisk(tmp_path)


def test_the_reserve_takes_real_blocks(disk: SmallDisk) -> None:
    assert disk.reserve.file.stat().st_blocks * 512 >= SIZE
    assert disk.reserve.problem == ""
    disk.reserve.check_room()


@pytest.mark.parametrize("free", [0, SIZE, 2 * SIZE - 1])
def test_a_disk_without_ample_space_gets_no_reserve(tmp_path: Path, free: int) -> None:
    assert not SmallDisk(tmp_path, free).reserve.is_held


def test_nothing_is_kept_if_the_setting_is_zero(tmp_path: Path) -> None:
    disk = SmallDisk(tmp_path / "missing")
    none = DiskReserve(tmp_path, 0, disk.find)
    disk.free = 0
    none.refresh()
    none.check_room()
    assert none.problem == "The disk at /data is full (0 bytes free)."
    assert not none.is_held
    assert not none.release()
    none.close()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_releases_it_and_refuses_what_is_new(disk: SmallDisk) -> None:
    disk.free = SIZE + SIZE // 4 - 1
    disk.reserve.refresh()
    assert not disk.reserve.is_held
    with pytest.raises(DiskFull, match=r"The disk at /data is full: .* of the reserve of 8\.0 MiB") as caught:
        disk.reserve.check_room()
    assert "new files are refused until there is space" in str(caught.value)
    disk.reserve.check_last_room()
    disk.free = SIZE // 2 - 1
    with pytest.raises(DiskFull, match=r"4\.0 MiB of the reserve"):
        disk.reserve.check_last_room()


def test_it_is_refused_no_longer_once_there_is_space(disk: SmallDisk) -> None:
    disk.free = 0
    disk.reserve.refresh()
    disk.reserve.refresh()
    with pytest.raises(DiskFull):
        disk.reserve.check_room()
    disk.free = 2 * SIZE - 1
    disk.reserve.check_room()
    assert not disk.reserve.is_held
    disk.free = 2 * SIZE
    disk.reserve.refresh()
    assert disk.reserve.is_held
    assert disk.reserve.problem == ""


def test_a_process_that_ends_takes_back_what_is_left_for_the_next_one(disk: SmallDisk) -> None:
    disk.free = SIZE
    disk.reserve.refresh()
    disk.free = SIZE - MIB
    disk.reserve.close()
    assert disk.reserve.file.stat().st_size == SIZE - MIB
    assert disk.open().is_used
    assert not disk.reserve.is_held


@pytest.mark.parametrize("size", [SIZE, SIZE // 2, 2 * SIZE, 0])
def test_a_part_that_was_taken_back_or_another_setting_becomes_whole_on_an_ample_disk(
    disk: SmallDisk, size: int
) -> None:
    disk.reserve.release()
    disk.free = SIZE - MIB
    disk.reserve.close()
    disk.free = PLENTY
    reserve = disk.open(size)
    assert (reserve.file.stat().st_size if reserve.is_held else 0) == size


def test_a_write_that_met_a_full_disk_gets_the_space_once(disk: SmallDisk) -> None:
    assert disk.reserve.release()
    assert not disk.reserve.release()


def test_a_read_only_disk_is_left_alone(tmp_path: Path) -> None:
    disk = SmallDisk(tmp_path, read_only=True)
    assert not disk.reserve.is_held
    assert disk.reserve.problem == "The disk at /data is read-only: questions are answered, and nothing new is stored."


def test_a_folder_that_is_gone_is_no_error_of_the_reserve(tmp_path: Path) -> None:
    reserve = DiskReserve(tmp_path / "gone" / "deep", SIZE)
    reserve.refresh()
    reserve.close()
    assert not reserve.is_held
