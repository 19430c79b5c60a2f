"""The statements of the process registry; they run in its own schema."""

from __future__ import annotations

import hashlib

CHANNEL = "threadlore"  # of notifications; payload: number of the sending process, blank, topic
PROCESS_CLASS = int.from_bytes(hashlib.sha256(b"threadlore process").digest()[:3])
IN_USE_LOCK = int.from_bytes(hashlib.sha256(b"threadlore process").digest()[:7])

# Shared by all processes; one that must be alone takes it for itself.
ENTER = "SELECT pg_try_advisory_lock_shared($1)"
ENTER_ALONE = "SELECT pg_try_advisory_lock($1)"
UNLOCK_ALL = "SELECT pg_advisory_unlock_all()"
INSERT_PROCESS = "INSERT INTO process (name, seen_at) VALUES ($1, now()) RETURNING id"
PROVE_LIFE = "SELECT pg_advisory_lock($1::integer, $2::integer)"
LISTEN = f"LISTEN {CHANNEL}"
SHOW_LIFE = "UPDATE process SET seen_at = now() WHERE id = $1 RETURNING 1"
FIND_PROCESS = "SELECT 1 FROM process WHERE id = $1"
LIST_PROCESSES = "SELECT id, name, started_at FROM process ORDER BY id"
# Who can lock the number of a process knows that it has ended. Everybody is woken: its work is free.
DELETE_ENDED = (
    "WITH ended AS (DELETE FROM process WHERE pg_try_advisory_xact_lock($1::integer, id) RETURNING id)"
    " SELECT id, pg_notify($2, '') FROM ended"
)
# A process that hangs, or that was stopped, keeps its connections. Without the one that holds its lock, it has ended.
LIST_SIGNS_OF_LIFE = "SELECT id, seen_at FROM process WHERE id <> $1 AND seen_at IS NOT NULL"
END_PROOF_OF_LIFE = (
    "SELECT pg_terminate_backend(pid) FROM pg_locks"
    " WHERE locktype = 'advisory' AND classid = $1::bigint::oid AND objid = $2::bigint::oid AND objsubid = 2"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
DELETE_PROCESS = "WITH gone AS (DELETE FROM process WHERE id = $1) SELECT pg_notify($2, '')"
# A lease of this process that could not be freed is its own.
INSERT_LEASE = (
    "INSERT INTO lease (name, process) VALUES ($1, $2)"
    " ON CONFLICT (name) DO UPDATE SET process = excluded.process WHERE lease.process = excluded.process RETURNING name"
)
LIST_LEASES = "SELECT name, process FROM lease WHERE starts_with(name, $1)"
DELETE_LEASE = "DELETE FROM lease WHERE name = $1 AND process = $2 RETURNING name"
NOTIFY = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS listed (payload)"
