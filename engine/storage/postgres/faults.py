"""What an error of PostgreSQL means for this program: one kind for each class of SQLSTATE codes, or for a single code.

The classes and codes are those of the server's manual (appendix “PostgreSQL Error Codes”).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import psycopg

if TYPE_CHECKING:
    from collections.abc import Mapping


class Fault(StrEnum):
    """Who or what has to change before a statement can succeed."""

    UNREACHABLE = "unreachable"  # the server ends its connections; whether a commit happened is unknown
    READ_ONLY = "read-only"  # the server takes no changes
    DISK = "disk"  # the server's disk is full or failing
    BUSY = "busy"  # other work is in the way, or a time limit ended the statement; it may succeed later
    SETUP = "setup"  # settings, rights or extensions of the server are not what the program needs
    DAMAGED = "damaged"  # files of the server are unreadable
    REFUSED = "refused"  # the server cannot store or use this text, number or key
    BUG = "bug"  # the program sent what it must not send


CLASSES: Mapping[str, Fault] = {
    **dict.fromkeys(("08",), Fault.UNREACHABLE),
    **dict.fromkeys(("40", "55", "57", "72"), Fault.BUSY),
    **dict.fromkeys(("58",), Fault.DISK),
    **dict.fromkeys(("0A", "0L", "0P", "28", "3D", "53", "F0"), Fault.SETUP),
    **dict.fromkeys(("22", "54"), Fault.REFUSED),
    # Conditions, cursors, transactions, routines, constraints, syntax and names; foreign data; procedures; internals.
    **dict.fromkeys(("02", "03", "09", "0B", "0F", "0Z", "10", "20", "21", "23", "24", "25", "26", "27"), Fault.BUG),
    **dict.fromkeys(("2B", "2D", "2F", "34", "38", "39", "3B", "3F", "42", "44", "HV", "P0", "XX"), Fault.BUG),
}
CODES: Mapping[str, Fault] = {
    "25006": Fault.READ_ONLY,  # read_only_sql_transaction: a standby, or default_transaction_read_only
    "25P03": Fault.UNREACHABLE,  # idle_in_transaction_session_timeout: this process was stopped for a while
    "25P04": Fault.BUSY,  # transaction_timeout
    "26000": Fault.SETUP,  # invalid_sql_statement_name: a pooler between us gives each transaction another connection
    "40002": Fault.BUG,  # transaction_integrity_constraint_violation
    "40003": Fault.UNREACHABLE,  # statement_completion_unknown
    "42501": Fault.SETUP,  # insufficient_privilege
    "42P05": Fault.SETUP,  # duplicate_prepared_statement: as 26000
    "53000": Fault.BUSY,  # insufficient_resources
    "53100": Fault.DISK,  # disk_full
    "53200": Fault.BUSY,  # out_of_memory
    "53300": Fault.UNREACHABLE,  # too_many_connections
    "55000": Fault.BUG,  # object_not_in_prerequisite_state
    "55P02": Fault.SETUP,  # cant_change_runtime_param
    "55P04": Fault.BUG,  # unsafe_new_enum_value_usage
    "57P01": Fault.UNREACHABLE,  # admin_shutdown, also by pg_terminate_backend
    "57P02": Fault.UNREACHABLE,  # crash_shutdown
    "57P03": Fault.UNREACHABLE,  # cannot_connect_now: the server starts or stops
    "57P04": Fault.UNREACHABLE,  # database_dropped
    "57P05": Fault.UNREACHABLE,  # idle_session_timeout
    "58P01": Fault.SETUP,  # undefined_file: an extension is not installed
    "XX001": Fault.DAMAGED,  # data_corrupted
    "XX002": Fault.DAMAGED,  # index_corrupted
}
# After these the transaction was certainly undone, perhaps because of one statement in it.
UNDONE = frozenset({Fault.DISK, Fault.BUSY, Fault.SETUP, Fault.DAMAGED, Fault.REFUSED, Fault.BUG})
OF_THE_SERVER = frozenset({Fault.DISK, Fault.BUSY, Fault.SETUP, Fault.DAMAGED})  # they may meet any statement


def classify_code(code: str) -> Fault:
    """The kind of a SQLSTATE code; one of a class that the manual does not have counts as a bug."""
    return CODES.get(code) or CLASSES.get(code[:2], Fault.BUG)


def classify(error: BaseException) -> Fault | None:
    """The kind of an error; None if it is not one of PostgreSQL or of its connections."""
    if not isinstance(error, psycopg.Error):  # those of the pool are, too
        return None
    if error.sqlstate is not None:
        return classify_code(error.sqlstate)
    # Without a code, the library itself noticed that a connection cannot be used.
    return Fault.UNREACHABLE if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) else Fault.BUG


def is_undone(error: BaseException) -> bool:
    """Whether a transaction in which this was raised has certainly not happened, and another attempt makes sense."""
    fault = classify(error)
    return fault is None or fault in UNDONE


def is_of_server(error: BaseException) -> bool:
    """Whether the server, rather than the statement, is the reason; the next statements may meet the same."""
    return classify(error) in OF_THE_SERVER
