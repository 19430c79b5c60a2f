"""The files for containers are held against the project: no container is built here."""

from __future__ import annotations

import re
from pathlib import Path

from bot.settings import PREFIX, Settings

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
KEPT = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")}


def copied() -> set[str]:
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    return {name for line in lines for name in line.split()}


def test_everything_that_the_image_is_made_of_is_there_and_reaches_the_builder() -> None:
    assert copied() == KEPT
    assert all((ROOT / name).exists() for name in copied())


def test_settings_and_data_never_reach_the_builder() -> None:
    assert not {name for name in KEPT if name.startswith(".") or "data" in name}


def test_only_settings_that_there_are_stand_in_the_files() -> None:
    named = set(re.findall(rf"{PREFIX}[A-Z_]+", DOCKERFILE + COMPOSE))
    assert named
    assert {name.removeprefix(PREFIX).lower() for name in named} <= set(Settings.model_fields)


def test_the_programs_that_sources_use_are_in_the_image() -> None:
    [installed] = re.findall(r"--no-install-recommends (.+) \\$", DOCKERFILE, re.MULTILINE)
    assert {"git", "openssh-client"} <= set(installed.split())


def test_the_libraries_are_those_of_the_lock_and_nothing_runs_with_rights() -> None:
    assert re.findall(r"--require-hashes -r (.+)$", DOCKERFILE, re.MULTILINE) == [
        "tools.lock",
        "requirements.lock -r requirements-extras.lock",
    ]
    assert "pip --python /app/bin/python install --no-deps --require-hashes -r requirements.lock" in DOCKERFILE
    assert DOCKERFILE.index("USER threadlore") < DOCKERFILE.index("ENTRYPOINT")
    assert not re.search(r"index-url|https?://(?!127\.0\.0\.1)", DOCKERFILE)
