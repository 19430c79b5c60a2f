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
os.environ["THREADLORE_SLACK_BOT_TOKEN"] = "planted"
os.environ["PLANTED_PROVIDER_KEY"] = "planted"
"""


def test_what_litellm_reads_from_a_file_is_only_for_providers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "litellm.py").write_text(READS_A_FILE)
    for name in ("THREADLORE_SLACK_BOT_TOKEN", "PLANTED_PROVIDER_KEY"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    for name in ("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_LOG"):
        monkeypatch.setenv(name, "")
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        assert load().__file__ == str(tmp_path / "litellm.py")
    finally:
        sys.modules.pop("litellm", None)
    assert "THREADLORE_SLACK_BOT_TOKEN" not in os.environ
    assert os.environ["PLANTED_PROVIDER_KEY"] == "planted"
