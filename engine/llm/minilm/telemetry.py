"""Delete what onnxruntime wrote into the user's cache before this program switched its telemetry off.

Its wheels have a telemetry client compiled in. Loading it wrote a lasting device id and a queue of events, and asked
name servers for a collector of Microsoft; `engine.llm.minilm` switches that off before it is loaded.
"""

from __future__ import annotations

from contextlib import suppress

from platformdirs import user_cache_path

CACHE_NAME = "threadlore"  # folder below the user's cache folder
DONE_FILE = "onnxruntime-telemetry-removed"
FOLDERS = ("Microsoft", "DeveloperTools", ".onnxruntime")
FILES = ("deviceid", "deviceid.lock", *(f"onnxruntime.db{end}" for end in ("", "-wal", "-shm", "-journal")))


def remove_telemetry_files() -> None:
    """Delete them once; a file in the user's cache then says so, because other programs may want theirs later."""
    cache = user_cache_path(CACHE_NAME)
    done = cache / DONE_FILE
    if done.exists():
        return
    folder = user_cache_path().joinpath(*FOLDERS)
    with suppress(OSError):
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
        for parent in (folder, *folder.parents[: len(FOLDERS) - 1]):
            with suppress(OSError):  # it holds other files, or does not exist
                parent.rmdir()
        cache.mkdir(parents=True, exist_ok=True)
        done.touch()
