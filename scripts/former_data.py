"""Build the data of former versions, by the code of their commits: `python -m scripts.former_data FOLDER [VERSION …]`.

Each version writes into a data directory of its name below FOLDER: three files, and a channel with three messages. With
`--database URL` it writes into that PostgreSQL database, too, which must be empty; then name one version.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[1]


class HistoryMissingError(RuntimeError):
    """The repository, or a commit of the table, is not there."""


@dataclass(frozen=True, slots=True)
class FormerVersion:
    """A commit whose data later versions open. `was_there`: what of today's program it had.

    Data of commits before the first one of the table are refused: they call other tables version 1.

    `imports`: it has `threadlore import`; one without it reads the channel from its own platform in memory.
    """

    name: str
    commit: str
    was_there: str
    imports: bool = True


VERSIONS = (
    FormerVersion(
        "first-schemas",
        "3aa53b18ef65317f51c61a73b58ced6151a9b7e6",
        "version 1 of both databases, as it is migrated from; a bot in one process that imports nothing",
        imports=False,
    ),
    FormerVersion(
        "first-imports",
        "6e65a08c2a56e3ef10e984e2787feeccaac4dd58",
        "imports, several processes on PostgreSQL, digests; no page, no sources outside of the chat",
    ),
    FormerVersion(
        "last-day",
        "a282ff8e497089dbbf289386d24396d2327420f3",
        "the page, the HTTP API, MCP, access tokens, corrections that can be undone",
    ),
)

FILES = {
    "ferry.md": "# Ferry\n\nThe ferry to Orla Island leaves pier four at 7:40.\n",
    "bakery.txt": "Mira Lund runs the bakery on Tiller Street, which is closed on Mondays.\n",
    "budget.csv": "item,euros\nlanterns,640\nropes,215\n",
}
MESSAGES = (
    "The regatta starts at noon from the north quay.",
    "Who brings the buoys?",
    "Teo Varga brings nine orange buoys.",
)
CHANNEL, WORKSPACE, AUTHOR = "C1", "T1", "U1"
CHANNEL_SPACE = f"slack:{WORKSPACE}:open"

# What the commits need besides the packages of today: they built the graphs of the embedder from its weights.
SAFETENSORS = '''
"""A reader of the format of safetensors, for versions that took the package of this name."""
import contextlib, json
from pathlib import Path
import numpy as np

class Tensors(dict):
    get_tensor = dict.__getitem__

def load_file(path):
    content = Path(path).read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    rows = {name: row for name, row in json.loads(content[8:start]).items() if name != "__metadata__"}
    kinds = {"F32": np.float32, "I64": np.int64}
    found = Tensors()
    for name, row in rows.items():
        begin, end = (start + offset for offset in row["data_offsets"])
        found[name] = np.frombuffer(content[begin:end], kinds[row["dtype"]]).reshape(row["shape"])
    return found

@contextlib.contextmanager
def safe_open(path, framework):
    yield load_file(path)
'''

# Reads the channel with the parts of a version that has no import: DATA_DIR CHANNEL AUTHOR MESSAGE …
BACKFILL = """
import asyncio, sys
from pathlib import Path
from bot.bootstrap import open_engine, open_models
from bot.context import BotContext
from bot.ingest.service import IngestService
from bot.permissions.resolver import AudienceResolver
from bot.platform.events import BotAdded
from bot.settings import Settings
from bot.store import BotStore
from engine import FileParser
from tests.support.fake_platform import FakePlatform

async def main(home, channel, author, *texts):
    settings, platform = Settings(data_dir=Path(home)), FakePlatform()
    place = platform.add_channel(channel, author)
    for text in texts:
        platform.add_message(place, author, text)
    async with (
        open_models(settings) as models,
        open_engine(settings, models) as opened,
        BotStore.open(Path(home) / "bot.db") as store,
        FileParser(opened.parser_limits) as parser,
    ):
        platforms = {platform.name: platform}
        resolver = AudienceResolver(platforms, store, settings.membership_cache_seconds)
        context = BotContext(opened, store, resolver, platforms, settings)
        service = IngestService(context, parser, platform.current_time)
        await service.handle(BotAdded(place))
        await service.run_sync()
        await opened.engine.wait_until_indexed()

asyncio.run(main(*sys.argv[1:]))
"""


@dataclass(frozen=True, slots=True)
class FormerTree:
    """The code of a version in `folder`, how it is run, and where its data is."""

    version: FormerVersion
    folder: Path
    data_dir: Path
    database: str = ""

    def write_data(self) -> None:
        """Ingest the files and the channel."""
        sources = self.folder / "former-sources"
        sources.mkdir()
        for name, text in FILES.items():
            (sources / name).write_text(text, encoding="utf-8")
        self._run("-m", "bot", "--data-dir", str(self.data_dir), "ingest", *(str(sources / name) for name in FILES))
        if self.version.imports:
            export = write_export(self.folder / "former-export")
            self._run("-m", "bot", "--data-dir", str(self.data_dir), "import", "slack", str(export))
        else:
            self._run("-c", BACKFILL, str(self.data_dir), CHANNEL, AUTHOR, *MESSAGES)

    def _run(self, *words: str) -> None:
        """Run Python with the code of this version alone. Raises RuntimeError with what it printed."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("THREADLORE_")}
        own = {
            "PYTHONPATH": os.pathsep.join((str(self.folder), str(self.folder / "former-packages"))),
            "THREADLORE_CACHE_DIR": str(self.folder.parent / "cache"),
            "THREADLORE_DISK_RESERVE_MB": "0",
        }
        if self.database:
            own["THREADLORE_DATABASE"] = self.database
        command = [sys.executable, "-P", *words]
        ended = subprocess.run(
            command, env=kept | own, cwd=self.folder, capture_output=True, text=True, timeout=600, check=False
        )
        if ended.returncode or " failed (" in ended.stdout + ended.stderr:
            raise RuntimeError(f"{self.version.name} could not run {words[:2]}:\n{ended.stdout}\n{ended.stderr}")


def write_export(folder: Path) -> Path:
    """Write the channel as an export of Slack, and return its folder."""
    profile = {"real_name": "Ada", "display_name": "Ada"}
    channel = {"id": CHANNEL, "name": "harbor", "members": [AUTHOR]}
    common = {"type": "message", "user": AUTHOR, "team": WORKSPACE}
    start = 1_772_442_000  # 2026-03-02, 9:00 UTC
    rows = [{**common, "ts": f"{start + 60 * minute}.000000", "text": text} for minute, text in enumerate(MESSAGES)]
    files = {
        "users.json": [{"id": AUTHOR, "team_id": WORKSPACE, "name": "ada", "profile": profile}],
        "channels.json": [channel],
        "harbor/2026-03-02.json": rows,
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def require_history() -> None:
    """Raise HistoryMissingError unless all commits of the table are there."""
    if not shutil.which("git"):
        raise HistoryMissingError("git is not installed")
    for version in VERSIONS:
        _git("cat-file", "-e", f"{version.commit}^{{commit}}")


def build_former_data(version: FormerVersion, data_dir: Path, database: str = "") -> None:
    """Write the data of a version. Raises HistoryMissingError, RuntimeError."""
    with tempfile.TemporaryDirectory(prefix="threadlore-former-") as scratch:
        folder = Path(scratch) / version.name
        with tarfile.open(fileobj=BytesIO(_git("archive", version.commit))) as archive:
            archive.extractall(folder, filter="data")
        package = folder / "former-packages" / "safetensors"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(SAFETENSORS, encoding="utf-8")
        (package / "numpy.py").write_text("from safetensors import load_file\n", encoding="utf-8")
        FormerTree(version, folder, data_dir, database).write_data()


def _git(*words: str) -> bytes:
    ended = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=False)
    if ended.returncode:
        raise HistoryMissingError(ended.stderr.decode(errors="replace").strip())
    return ended.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="VERSION", help=", ".join(version.name for version in VERSIONS))
    parser.add_argument("--database", default="", help="address of an empty PostgreSQL database")
    asked = parser.parse_args()
    known = {version.name: version for version in VERSIONS}
    chosen = [known[name] for name in asked.names or known]
    if asked.database and len(chosen) != 1:
        parser.error("name one version with --database")
    for version in chosen:
        build_former_data(version, (asked.folder / version.name).resolve(), asked.database)
        print(f"{asked.folder / version.name}: {version.commit[:10]}, {version.was_there}")


if __name__ == "__main__":
    main()
