"""Whether the volume of a folder is encrypted, as far as Linux says it."""

from __future__ import annotations

import os
import re
from pathlib import Path

SYS, MOUNTS = Path("/sys"), Path("/proc/self/mountinfo")
ENCRYPTING = frozenset({"ecryptfs", "fuse.gocryptfs", "fuse.encfs", "fuse.cryfs"})  # types of file systems
ESCAPED = re.compile(r"\\([0-7]{3})")
MAX_DEPTH = 8  # of devices on devices


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
