"""Writes that wait together: one that is refused fails alone, and none is repeated that may have happened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from psycopg import errors

from engine.storage.postgres import faults
from engine.storage.sql.connection import Connection
from engine.storage.sql.database import GroupCommit


class FailingTransactions:
    """Runs works that are named by numbers; transactions with certain numbers fail with an error."""

    def __init__(self, error: Exception, *numbers: int) -> None:
        self.error, self.numbers = error, set(numbers)
        self.runs = list[list[int]]()

    async def run(self, works: Sequence[Any]) -> list[Any]:
        numbers = [work(None) for work in works]
        self.runs.append(numbers)
        if self.numbers & set(numbers):
            raise self.error
        return numbers


@asynccontextmanager
async def committing(transactions: FailingTransactions) -> AsyncIterator[GroupCommit]:
    commits = GroupCommit(
        "test",
        transactions.run,
        lambda error: error,
        is_undone=faults.is_undone,
        is_of_server=faults.is_of_server,
    )
    yield commits
    commits.close()
    await commits.run()


async def submit(transactions: FailingTransactions, count: int) -> list[Any]:
    async with committing(transactions) as commits:

        def write(number: int) -> asyncio.Task[Any]:
            def work(_: Connection) -> int:
                return number

            return asyncio.create_task(commits.submit(work))

        writing = [write(number) for number in range(count)]
        await asyncio.sleep(0)
    return list(await asyncio.gather(*writing, return_exceptions=True))


@pytest.mark.parametrize("error", [errors.ProgramLimitExceeded("too long"), errors.DiskFull(), ValueError("bug")])
async def test_a_refused_write_fails_alone(error: Exception) -> None:
    assert await submit(FailingTransactions(error, 1), 4) == [0, error, 2, 3]


@pytest.mark.parametrize("error", [errors.AdminShutdown(), psycopg.OperationalError("gone")])
async def test_a_write_that_may_have_happened_is_not_repeated(error: Exception) -> None:
    transactions = FailingTransactions(error, 1)
    assert await submit(transactions, 3) == [error] * 3
    assert transactions.runs == [[0, 1, 2]]


async def test_writes_do_not_each_wait_for_a_server_that_fails_all() -> None:
    error = errors.QueryCanceled("statement timeout")
    transactions = FailingTransactions(error, *range(50))
    assert await submit(transactions, 50) == [error] * 50
    assert transactions.runs[1:] == [[0], [1]]
