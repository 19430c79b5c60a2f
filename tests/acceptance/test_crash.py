from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.run import run_seed

SEED = 32  # three kills; `make bench-crash` runs 50 seeds


@pytest.mark.long
async def test_killed_at_any_moment_it_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    outcome = await run_seed(SEED, tmp_path)
    assert outcome.violations == [], f"killed {outcome.deaths}"
    assert outcome.deaths
