"""A PostgreSQL server of its own, whose faults a test makes: it ends its connections, hangs, or takes no changes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from tests.support.postgres_server import PostgresServer, start_server

END_ALL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"


class FaultyPostgres:
    """The server, and the address of one database of it."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._name = server.create_database()
        self.url = server.url(self._name)

    def end_connections(self) -> None:
        """End all connections, as a restart or a fail-over does."""
        with psycopg.connect(self._server.url("postgres"), autocommit=True) as admin:
            admin.execute(END_ALL, (self._name,))

    def set_read_only(self, *, on: bool) -> None:
        """Take no changes from now on, or take them again; connections stay."""
        with psycopg.connect(self._server.url("postgres"), autocommit=True) as admin:
            admin.execute(f"ALTER SYSTEM SET default_transaction_read_only = {'on' if on else 'off'}".encode())
            admin.execute("SELECT pg_reload_conf()")

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """No process of the server does anything meanwhile."""
        processes = self._list_processes()
        for pid in processes:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in processes:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def _list_processes(self) -> list[int]:
        """The server's main process, then those that it started."""
        main = int((self._server.folder / "data" / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        started = Path(f"/proc/{main}/task/{main}/children").read_text(encoding="ascii").split()
        return [main, *map(int, started)]


@contextmanager
def open_faulty_postgres() -> Iterator[FaultyPostgres]:
    """A server, stopped in the end."""
    server = start_server()
    try:
        yield FaultyPostgres(server)
    finally:
        server.release()
