"""A ledger of its own for every test, and short ways to fill it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.storage.ledger import Ledger
from tests.engine.storage.ledger.ledger_fixture import Desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """A desk over an empty ledger."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    yield Desk(ledger)
    await ledger.close()
