"""The PostgreSQL server of tests: shared, with pgvector, and gone when the last process that uses it has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from tests.support.postgres_server import PostgresServer, fresh_database, share_server

ROOT = Path(__file__).parents[2]
USER = """
import sys, time
from pathlib import Path
from tests.support.postgres_server import share_server
print(share_server(Path(sys.argv[1])).folder, flush=True)
time.sleep(600)
"""


def start_user(run_folder: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that uses the server of a test run, and the server's folder."""
    process = subprocess.Popen([sys.executable, "-c", USER, run_folder], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def kill(process: subprocess.Popen[str]) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def test_a_fresh_database_has_vectors_and_nothing_else(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT '[3,4]'::vector <-> '[0,0]'::vector").fetchone() == (5.0,)
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)


def test_databases_are_separate_and_removed(postgres_server: PostgresServer) -> None:
    with fresh_database(postgres_server) as one, fresh_database(postgres_server) as other:
        with psycopg.connect(one) as connection:
            connection.execute("CREATE TABLE own (id int)")
        with psycopg.connect(other) as connection, pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT * FROM own")
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(one)


def test_a_template_is_filled_once(postgres_server: PostgresServer) -> None:
    filled = []

    def fill(url: str) -> None:
        filled.append(url)
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE prepared (id int)")

    for _ in range(2):
        postgres_server.ensure_template("template_of_a_test", fill)
    with fresh_database(postgres_server, "template_of_a_test") as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM prepared").fetchone() == (0,)
    assert len(filled) == 1


@pytest.mark.long
def test_the_server_ends_when_the_last_of_its_users_is_killed(tmp_path: Path) -> None:
    first, folder = start_user(tmp_path)
    second, same_folder = start_user(tmp_path)
    assert same_folder == folder
    kill(first)
    share_server(tmp_path).release()
    assert (folder / "data" / "postmaster.pid").exists()
    kill(second)
    deadline = time.monotonic() + 30
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not folder.exists()
    third, other_folder = start_user(tmp_path)
    assert other_folder != folder
    kill(third)
