from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.storage.ledger import Ledger
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[LedgerFixture]:
    """An empty ledger, with short ways to fill it."""
    opened = await Ledger.open(tmp_path / "ledger.db")
    yield LedgerFixture(opened)
    await opened.close()
