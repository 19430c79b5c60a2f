from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.storage.ledger import Ledger
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[LedgerFixture]:
    """An empty ledger, with short ways to fill it."""
    opened = await Ledger.open(tmp_path / "ledger.db")
    yield LedgerFixture(opened)
    await opened.close()
