"""In a process of its own: other tests of this process set the limit, too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from engine.memory import GC_THRESHOLD

PROGRAM = f"""
import gc, sys
from importlib import import_module
before = set(sys.modules)
import_module("bot.process_start")
assert gc.get_threshold()[0] == {GC_THRESHOLD}
assert not any(name.startswith(("bot.cli", "bot.capabilities", "typer")) for name in sys.modules.keys() - before)
"""


def test_the_limit_is_raised_before_the_program_is_imported() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, cwd=Path(__file__).parents[2])
