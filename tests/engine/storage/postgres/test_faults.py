"""Every error of PostgreSQL has a kind, and reads as an error of the engine with a hint."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout

from engine.errors import (
    CorruptLedger,
    DatabaseBusy,
    DatabaseMisconfigured,
    DatabaseReadOnly,
    DatabaseUnreachable,
    DiskError,
    StoreError,
    UnstorableText,
)
from engine.storage.postgres.connection import translate_error
from engine.storage.postgres.faults import CLASSES, CODES, Fault, classify, classify_code, is_undone
from engine.storage.psycopg_calls import map_postgres_error

TYPES = [var for var in vars(errors).values() if isinstance(var, type) and issubclass(var, psycopg.Error)]
KNOWN = {type_.sqlstate for type_ in TYPES if isinstance(type_.sqlstate, str)}


def test_every_class_and_code_of_the_server_has_a_kind() -> None:
    assert len(KNOWN) > 240
    assert {code[:2] for code in KNOWN} == set(CLASSES)
    assert set(CODES) <= KNOWN


@pytest.mark.parametrize(
    ("codes", "kind"),
    [
        ("08000 08001 08003 08004 08006 08P01 53300 57P01 57P02 57P03 57P04 57P05 25P03 40003", Fault.UNREACHABLE),
        ("25006", Fault.READ_ONLY),
        ("53100 58000 58030", Fault.DISK),
        ("40001 40P01 53200 55006 55P03 57014 25P04 72000", Fault.BUSY),
        ("0A000 28000 28P01 3D000 42501 53400 58P01 F0000 26000", Fault.SETUP),
        ("XX001 XX002", Fault.DAMAGED),
        ("22001 22003 22021 22P05 54000 54001 54011", Fault.REFUSED),
        ("23503 23505 25001 42601 42P01 42703 P0001 XX000 ZZ999", Fault.BUG),
    ],
)
def test_the_kind_of_a_code_says_what_has_to_change(codes: str, kind: Fault) -> None:
    assert {code: classify_code(code) for code in codes.split()} == dict.fromkeys(codes.split(), kind)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.AdminShutdown(), DatabaseUnreachable),
        (errors.TooManyConnections(), DatabaseUnreachable),
        (psycopg.OperationalError("server closed the connection"), DatabaseUnreachable),
        (psycopg.InterfaceError("the connection is closed"), DatabaseUnreachable),
        (PoolTimeout(), DatabaseUnreachable),
        (PoolClosed(), DatabaseUnreachable),
        (errors.ReadOnlySqlTransaction(), DatabaseReadOnly),
        (errors.DiskFull(), DiskError),
        (errors.IoError(), DiskError),
        (errors.QueryCanceled(), DatabaseBusy),
        (errors.LockNotAvailable(), DatabaseBusy),
        (errors.OutOfMemory(), DatabaseBusy),
        (errors.InsufficientPrivilege(), DatabaseMisconfigured),
        (errors.InvalidCatalogName(), DatabaseMisconfigured),
        (errors.DataCorrupted(), CorruptLedger),
        (errors.ProgramLimitExceeded(), UnstorableText),
        (errors.NumericValueOutOfRange(), UnstorableText),
    ],
)
def test_an_error_of_the_server_reads_as_one_of_the_engine_with_a_hint(
    error: psycopg.Error, kind: type[Exception]
) -> None:
    translated = translate_error(error, "ledger")
    assert type(translated) is kind
    assert isinstance(translated, StoreError)
    assert "ledger" in str(translated)
    assert translated.hint


@pytest.mark.parametrize("error", [errors.UndefinedTable(), errors.ForeignKeyViolation(), ValueError("no")])
def test_a_mistake_of_the_program_stays_what_it_is(error: Exception) -> None:
    assert translate_error(error, "ledger") is error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.ReadOnlySqlTransaction(), DatabaseReadOnly),
        (errors.CannotConnectNow(), DatabaseUnreachable),
        (errors.QueryCanceled(), DatabaseBusy),
        (errors.DiskFull(), DiskError),
    ],
)
def test_vectors_and_the_graph_tell_the_same(error: psycopg.Error, kind: type[Exception]) -> None:
    assert type(map_postgres_error(error)) is kind


def test_a_transaction_is_undone_unless_the_server_may_have_committed_it() -> None:
    undone = errors.ProgramLimitExceeded, errors.QueryCanceled, errors.UniqueViolation, ValueError
    uncertain = errors.AdminShutdown, errors.ConnectionFailure, psycopg.OperationalError, errors.ReadOnlySqlTransaction
    assert [is_undone(each()) for each in (*undone, *uncertain)] == [True] * 4 + [False] * 4
    assert classify(ValueError()) is None
