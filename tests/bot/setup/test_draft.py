"""When nothing is set up: no file, no setting but of places, no data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.errors import BadSetting
from bot.settings import load_present_settings
from bot.setup.draft import SetupDraft, is_untouched


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("THREADLORE_")]:
        monkeypatch.delenv(name)


def open_draft(home: Path) -> SetupDraft:
    overrides = {"data_dir": str(home)}
    return SetupDraft(home / ".env", load_present_settings(home / ".env", **overrides), overrides)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [("WEB_PORT", "0", True), ("WEB_HOST", "0.0.0.0", False), ("LLM_MODEL", "m", False), ("SLACK_MODE", "http", False)],
)
def test_only_a_place_is_no_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, *, expected: bool
) -> None:
    monkeypatch.setenv(f"THREADLORE_{name}", value)
    assert is_untouched(open_draft(tmp_path)) is expected


@pytest.mark.parametrize("name", [".env", "ledger.db"])
def test_a_file_of_settings_or_data_mean_that_somebody_began(tmp_path: Path, name: str) -> None:
    assert is_untouched(open_draft(tmp_path))
    (tmp_path / name).write_text("X=1\n")
    assert not is_untouched(open_draft(tmp_path))


def test_nothing_is_written_into_a_folder_whose_settings_would_not_be_read(tmp_path: Path) -> None:
    tmp_path.chmod(0o775)
    draft = open_draft(tmp_path)
    draft.chosen["llm_model"] = "openai/m"
    with pytest.raises(BadSetting, match="Others can write"):
        draft.write()
    assert not (tmp_path / ".env").exists()
