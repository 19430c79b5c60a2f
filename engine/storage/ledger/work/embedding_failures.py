"""Texts that the embedder rejects: count the tries, retry later, give each up with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import ModelRefused, PromptTooLong
from engine.storage.ledger.records.projection import EmbeddingFailure, KeyKind
from engine.storage.ledger.scope_clauses import row_clause
from engine.storage.ledger.work.stale_keys import add_stale_keys, next_generation
from engine.storage.sql.lists import id_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.storage.sql.connection import Connection

PERMANENT_ERRORS = (ModelRefused, PromptTooLong)  # the same text fails at every start
INITIAL_WAIT, MAX_WAIT = 5.0, 600.0  # seconds until the next try; doubled with each
MAX_REASONS = 5  # listed in the problems


async def record_failures(db: Connection, failures: Sequence[EmbeddingFailure], attempts: int, now: float) -> None:
    """Count a try of each key; give up keys with too many tries or a permanent error.

    Keys that changed since are left alone: their new text is tried.
    """
    over = list[EmbeddingFailure]()
    for each in failures:
        rows = await db.execute_fetchall(
            "UPDATE stale_key SET attempts = attempts + 1, error = ?, hint = ?"
            " WHERE kind = ? AND id = ? AND generation = ? RETURNING attempts",
            (str(each.error), each.error.hint, *each.key),
        )
        for (count,) in rows:
            retry_at = now + min(MAX_WAIT, INITIAL_WAIT * 2 ** min(count - 1, 20))
            await db.execute("UPDATE stale_key SET retry_at = ? WHERE kind = ? AND id = ?", (retry_at, *each.key[:2]))
            if count >= attempts or isinstance(each.error, PERMANENT_ERRORS):
                over.append(each)
    await db.executemany(
        "UPDATE stale_key SET claimed_by = NULL WHERE kind = ? AND id = ?", [each.key[:2] for each in failures]
    )
    for each in over:
        await _give_up_key(db, each)


async def _give_up_key(db: Connection, failure: EmbeddingFailure) -> None:
    (kind, id_, _), error = failure.key, failure.error
    reason = str(error), error.hint, isinstance(error, PERMANENT_ERRORS)
    await db.execute("DELETE FROM stale_key WHERE kind = ? AND id = ?", (kind, id_))
    if kind != KeyKind.CHUNK:
        await db.execute(
            "INSERT INTO embedding_failure (kind, id, error, hint, permanent) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (kind, id) DO UPDATE SET error = excluded.error, hint = excluded.hint,"
            " permanent = excluded.permanent",
            (kind, id_, *reason),
        )
        return
    await db.execute(
        "UPDATE chunk SET error = ?, hint = ?, permanent_failure = ?, retry_at = 9e999 WHERE id = ?", (*reason, id_)
    )
    await db.execute(
        "UPDATE document SET status = 'failed', error = ?, hint = ?"
        " WHERE id = (SELECT document FROM chunk WHERE id = ?)",
        (*reason[:2], id_),
    )


async def clear_failures(db: Connection, embedded: Sequence[tuple[KeyKind, int]]) -> None:
    """Delete the failures of keys whose vectors are stored or deleted."""
    if list(await db.execute_fetchall("SELECT 1 FROM embedding_failure LIMIT 1")):
        await db.executemany("DELETE FROM embedding_failure WHERE kind = ? AND id = ?", embedded)


async def retry_failures(db: Connection, *, permanent: bool = True) -> None:
    """Retry every name and pair that was given up or waits for its next try."""
    rows = list(
        await db.execute_fetchall(
            "DELETE FROM embedding_failure WHERE ?1 OR NOT permanent RETURNING kind, id", (permanent,)
        )
    )
    generation = await next_generation(db)
    for kind in (KeyKind.NAME, KeyKind.PAIR):
        await add_stale_keys(db, kind, [id_ for each, id_ in rows if each == kind], generation)
    await db.execute("UPDATE stale_key SET attempts = 0, retry_at = 0 WHERE attempts > 0")


async def list_failed_keys(db: Connection) -> list[tuple[KeyKind, int]]:
    """The names and pairs that were given up."""
    return [(KeyKind(kind), id_) for kind, id_ in await db.execute_fetchall("SELECT kind, id FROM embedding_failure")]


async def list_failure_reasons(db: Connection) -> list[str]:
    """One sentence for each reason why documents, chunks, names or pairs were given up, with their number."""
    rows = await db.execute_fetchall(
        "SELECT error, COUNT(*) FROM (SELECT error FROM embedding_failure UNION ALL SELECT error FROM document"
        " WHERE error <> '') GROUP BY error ORDER BY COUNT(*) DESC LIMIT ?",
        (MAX_REASONS,),
    )
    return [f"{count} given up: {error}" for error, count in rows]


async def count_failed_keys(db: Connection, scope_ids: ScopeIds) -> tuple[int, str]:
    """The number of given-up names and pairs within a scope, and the reason of one of them."""
    rows = await db.execute_fetchall(
        "SELECT u.error FROM embedding_failure u LEFT JOIN entity e ON u.kind = 1 AND e.id = u.id"
        " LEFT JOIN relation r ON u.kind = 2 AND r.id = u.id"
        " WHERE COALESCE(e.space, r.space) IN (SELECT value FROM json_each(?))",
        (id_list(sorted(scope_ids.spaces)),),
    )
    errors = [str(row[0]) for row in rows]
    return len(errors), errors[0] if errors else ""


async def find_retry_error(db: Connection, scope_ids: ScopeIds) -> str:
    """The error of a key within a scope that is tried again, "" if there is none."""
    rows = await db.execute_fetchall(
        "SELECT s.error FROM stale_key s LEFT JOIN chunk c ON s.kind = 0 AND c.id = s.id"
        " LEFT JOIN entity e ON s.kind = 1 AND e.id = s.id LEFT JOIN relation r ON s.kind = 2 AND r.id = s.id"
        f" WHERE s.attempts > 0 AND ({row_clause(scope_ids, 'c')} OR COALESCE(e.space, r.space) IN"
        " (SELECT value FROM json_each(?))) LIMIT 1",
        (id_list(sorted(scope_ids.spaces)),),
    )
    return next((str(row[0]) for row in rows), "")
