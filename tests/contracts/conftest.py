"""Which stores run the contracts always: what the product opens, and what stands for it in tests."""

from __future__ import annotations

import pytest

from tests.conftest import is_drawn

# Stores of examples, variants of a store, and what PostgreSQL holds: of each, one in so many tests runs always.
SHARES = {"surreal": 8, "surreal on disk": 8, "lance on disk": 3, "postgres by space": 3, "postgres": 2, "kuzu": 2}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests of other stores as long, all but a share."""
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    share = SHARES.get(str(parameters.get("store", parameters.get("graph"))), 1)
    if not is_drawn(item.name.partition("[")[0], share):
        item.add_marker("long")
