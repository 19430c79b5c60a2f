from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from engine.models import Filters, Scope
from engine.storage.ledger.queries.undated import has_excluded_undated
from tests.support.engine_fixture import doc

if TYPE_CHECKING:
    from tests.engine.storage.ledger.ledger_fixture import LedgerFixture

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HERE = Scope(frozenset({"here"}), frozenset())


@pytest.mark.parametrize(
    ("scope", "within", "told"),
    [
        (HERE, Filters(since=NOON), True),
        (HERE, Filters(until=NOON, documents=frozenset({"undated"})), True),
        (HERE, Filters(since=NOON, documents=frozenset({"dated"})), False),
        (HERE, Filters(since=NOON, rooms=frozenset({"elsewhere"})), False),
        (Scope(frozenset({"there"}), frozenset()), Filters(since=NOON), False),
    ],
)
async def test_undated_documents_of_the_scope_count(
    ledger: LedgerFixture, scope: Scope, within: Filters, *, told: bool
) -> None:
    await ledger.add(doc("dated", "x", time=NOON))
    await ledger.add(doc("undated", "y"))
    assert await ledger.read(has_excluded_undated, scope, within) is told
