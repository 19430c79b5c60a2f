from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crash.run import run_seed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("seed", [1, 2])
async def test_killed_at_any_moment_it_ends_as_if_nothing_had_happened(seed: int, tmp_path: Path) -> None:
    outcome = await run_seed(seed, tmp_path)
    assert outcome.violations == [], f"killed {outcome.deaths}"
    assert outcome.deaths
