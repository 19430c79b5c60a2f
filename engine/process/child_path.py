"""Module search path of child processes: ours, without the current folder unless it holds the program."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def child_python_path() -> str:
    """PYTHONPATH for a child: ours without relative folders, and without the current one unless it is the program's."""
    here, own = Path.cwd(), Path(__file__).parents[2]
    kept = [path for path in sys.path if Path(path).is_absolute() and (Path(path) != here or here == own)]
    return os.pathsep.join(kept)
