"""A data directory on a real disk of 80 MB that gets full, and then read-only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")
SESSION = r"""
run() { echo "[$1]"; shift; "$PYTHON" -m bot "$@" 2>&1 || echo "failed"; }
mount -t tmpfs -o size=80M tmpfs "$DISK"
export THREADLORE_DATA_DIR="$DISK/data"
run ingest ingest "$WORK/texts"
dd if=/dev/zero of="$DISK/fill" bs=4k status=none 2>/dev/null
echo Eve keeps a lamp. > "$WORK/texts/eve.txt"
run "full ask" ask "Who works with Babbage?"
run "full status" status
run "full ingest" ingest "$WORK/texts"
run "full backup here" backup "$DISK/b.tgz"
run "full backup" backup "$WORK/full.tgz"
run "full forget" forget "$WORK/texts/ada.txt"
run "full documents" documents
rm "$DISK/data/reserve"
dd if=/dev/zero of="$DISK/fill2" bs=4k status=none 2>/dev/null
export THREADLORE_DISK_RESERVE_MB=0
run "used up ask" ask "Where does Grace Hopper live?"
run "used up forget" forget "$WORK/texts/grace.txt"
rm "$DISK/fill" "$DISK/fill2"
unset THREADLORE_DISK_RESERVE_MB
run "free ingest" ingest "$WORK/texts"
mount -o remount,ro "$DISK"
run "read-only ask" ask "Where does Grace Hopper live?"
run "read-only documents" documents
run "read-only status" status
run "read-only forget" forget "$WORK/texts/grace.txt"
run "read-only backup" backup "$WORK/read-only.tgz"
run "read-only serve" serve
"""


def can_mount() -> bool:
    """Whether this system lets its users mount a file system in a namespace of their own."""
    try:
        found = subprocess.run([*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False)
    except OSError:
        return False
    return found.returncode == 0


def run_session(folder: Path) -> dict[str, str]:
    """What each command of the session printed, with its lines joined."""
    disk, work = folder / "disk", folder / "work"
    disk.mkdir()
    (work / "texts").mkdir(parents=True)
    (work / "texts" / "ada.txt").write_text("Ada Lovelace works with Charles Babbage in London.")
    (work / "texts" / "grace.txt").write_text("Grace Hopper lives in Boston.")
    own = {"DISK": str(disk), "WORK": str(work), "PYTHON": sys.executable, "HOME": str(work), "COLUMNS": "200"}
    tokens = {"THREADLORE_SLACK_APP_TOKEN": "xapp-1", "THREADLORE_SLACK_BOT_TOKEN": "xoxb-1"}
    kept = {name: each for name, each in os.environ.items() if not name.startswith("THREADLORE_")}
    done = subprocess.run(
        [*NAMESPACE, "bash", "-c", SESSION],
        env=kept | own | tokens,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    parts = done.stdout.split("\n[")
    return {part.lstrip("[").split("]")[0]: " ".join(part.split("]", 1)[1].split()) for part in parts}


@pytest.mark.long
@pytest.mark.skipif(not can_mount(), reason="file systems cannot be mounted in a namespace here")
def test_a_full_disk_answers_and_forgets_and_a_read_only_one_answers(tmp_path: Path) -> None:
    said = run_session(tmp_path)
    disk = f"disk at {tmp_path / 'disk'}"
    assert {name for name, words in said.items() if words.endswith("failed")} == {
        "full ingest",
        "full backup here",
        "used up forget",
        "read-only forget",
        "read-only serve",
    }
    for name in ("full ask", "used up ask", "read-only ask"):
        assert "[1]" in said[name]
    for name in ("full status", "full ingest"):
        assert f"{disk} is full" in said[name]
        assert "new files are refused until there is space" in said[name]
    assert disk in said["full backup here"]
    assert "needs" in said["full backup here"]
    assert "ada.txt" not in said["full documents"]
    assert "grace.txt" in said["full documents"]
    assert f"{disk} is full (0 bytes free)" in said["used up forget"]
    for name in ("read-only status", "read-only forget", "read-only serve"):
        assert f"{disk} is read-only" in said[name]
    assert "eve.txt" in said["read-only documents"]
    assert (tmp_path / "work" / "full.tgz").stat().st_size
    assert (tmp_path / "work" / "read-only.tgz").stat().st_size
