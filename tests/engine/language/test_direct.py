from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from engine.language.direct import load

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

READS_A_FILE = """
import os
if os.getenv("LITELLM_MODE", "DEV") == "DEV":
    os.environ["PLANTED_PROVIDER_KEY"] = "planted"
"""


def test_litellm_is_told_to_read_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "litellm.py").write_text(READS_A_FILE)
    monkeypatch.setenv("PLANTED_PROVIDER_KEY", "")
    monkeypatch.delenv("PLANTED_PROVIDER_KEY")
    for name in ("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_LOG", "LITELLM_MODE"):
        monkeypatch.setenv(name, "DEV")
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        assert load().__file__ == str(tmp_path / "litellm.py")
    finally:
        sys.modules.pop("litellm", None)
    assert "PLANTED_PROVIDER_KEY" not in os.environ
