"""`threadlore doctor`: one line a check; exit status 1 if something that is needed is missing."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from bot.cli.doctor import checks
from bot.cli.doctor.finding import CheckContext, Finding
from bot.monitoring import port
from bot.rpc.monitored_session import open_monitored_session
from bot.settings import Settings
from engine.clock import SYSTEM_CLOCK
from engine.parsers.sandbox.kernel.landlock import find_version
from tests.support.clock import MONDAY_NOON, ManualClock
from tests.support.engine_fixture import wait_until
from tests.support.source_trees import ROOT
from tests.support.town.slack import find_free_port

OK_NAMES = ["versions", "data directory", "disk space", "clock", "database", "bot", "platforms", "models"]
OK_NAMES += ["languages", "parser service", "sandbox", "probes"]
NAMES = [*OK_NAMES, "encryption", "backups"]
HAS_LANDLOCK = sys.platform == "linux" and bool(find_version())
WORDS = ["-m", "bot", "--data-dir"]


def run_doctor(home: Path, *words: str, without: str = "", **environment: str) -> tuple[int, str]:
    command = [sys.executable, *WORDS, str(home), "doctor", *words]
    if without:
        command = [sys.executable, "-m", "tests.support.older_kernel", without, "--", *command]
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200", **environment}
    done = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


def look(home: Path, passed: timedelta = timedelta()) -> CheckContext:
    """What the checks see when so much time has passed since Monday noon."""
    return CheckContext(Settings(data_dir=home), ManualClock(MONDAY_NOON + passed))


@pytest.mark.long
@pytest.mark.skipif(not HAS_LANDLOCK, reason="this kernel has no Landlock")
def test_a_healthy_machine_has_a_line_for_each_check(home: Path) -> None:
    code, shown = run_doctor(home, THREADLORE_REQUIRE_SANDBOX="true")
    assert (code, shown.count("✗")) == (0, 0), shown
    assert shown.count("✓") - ("volume of the data is encrypted" in shown) == len(OK_NAMES), shown
    assert all(name in shown for name in NAMES)


@pytest.mark.long
@pytest.mark.skipif(not HAS_LANDLOCK, reason="this kernel has no Landlock")
@pytest.mark.parametrize(("required", "code", "state"), [("false", 0, "warning"), ("true", 1, "failed")])
def test_a_missing_mechanism_is_a_failure_if_it_is_required(home: Path, required: str, code: int, state: str) -> None:
    found, shown = run_doctor(home, "--json", without="444", THREADLORE_REQUIRE_SANDBOX=required)
    findings = {load["name"]: load for load in json.loads(shown)}
    assert found == code
    assert findings["sandbox"]["state"] == state
    assert "Landlock" in findings["sandbox"]["text"]
    assert findings["sandbox"]["hint"]


async def test_a_data_directory_that_others_can_open_is_a_warning(home: Path) -> None:
    assert (await checks.check_data_dir(look(home))).state == "ok"
    assert (await checks.check_data_dir(look(home / "new"))).state == "ok"
    home.chmod(0o755)  # noqa: ASYNC240 - a moment
    assert (await checks.check_data_dir(look(home))).state == "warning"


async def test_a_data_directory_that_is_a_file_is_a_failure(home: Path) -> None:
    (home / "file").write_text("x")
    assert (await checks.check_data_dir(look(home / "file"))).state == "failed"


async def test_a_clock_behind_the_files_is_a_failure(home: Path) -> None:
    written = home / "ledger.db"
    written.write_text("x")
    os.utime(written, times=(MONDAY_NOON.timestamp(),) * 2)
    assert (await checks.check_clock(look(home, timedelta(hours=-2)))).state == "ok"
    finding = await checks.check_clock(look(home, timedelta(days=-40, hours=-1)))
    assert (finding.state, "40 days newer" in finding.text) == ("failed", True)


async def test_a_link_to_nothing_in_the_data_directory_is_no_error(home: Path) -> None:
    (home / "link").symlink_to(home / "absent")
    assert (await checks.check_clock(CheckContext(Settings(data_dir=home), SYSTEM_CLOCK))).state == "ok"


async def test_a_check_that_raises_is_a_failure_by_its_name_and_the_others_still_run(home: Path) -> None:
    async def fail(_: CheckContext) -> Finding:
        raise PermissionError(13, "Permission denied", "/srv/pipes")

    async def mistake(_: CheckContext) -> list[Finding]:
        raise ValueError("low")

    found = await checks.run_checks(look(home), {"pipes": fail, "tides": mistake, "data": checks.check_data_dir})
    assert [(check.name, check.state) for check in found] == [
        ("pipes", "failed"),
        ("tides", "failed"),
        ("data directory", "ok"),
    ]
    assert found[0].text == "The check could not be finished: /srv/pipes: Permission denied."
    assert "ValueError: low" in found[1].text
    assert all(check.hint for check in found[:2])


async def test_little_space_is_a_warning_and_less_a_failure(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, state in ((0, "ok"), (2**60, "warning")):
        monkeypatch.setattr(checks, "FEW_FREE_BYTES", limit)
        assert (await checks.check_disk_space(look(home))).state == state
    monkeypatch.setattr(checks, "MIN_FREE_BYTES", 2**60)
    assert (await checks.check_disk_space(look(home))).state == "failed"


async def test_the_port_of_the_probes_is_free_or_somebody_has_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(port, "RETRY_SECONDS", 0.01)
    assert (await checks.check_probes(look(home))).state == "ok"
    settings = Settings(data_dir=home, monitoring_port=find_free_port())
    context = CheckContext(settings, SYSTEM_CLOCK)
    assert "is free" in (await checks.check_probes(context)).text
    with socket.create_server(("127.0.0.1", settings.monitoring_port)) as other:
        assert (await checks.check_probes(context)).state == "warning"
        async with open_monitored_session(settings, SYSTEM_CLOCK) as (_, health):
            finding = await checks.check_probes(context)
            assert (finding.state, finding.text.startswith(port.UNSERVED)) == ("warning", True)
            other.close()
            await wait_until(lambda: not health.metrics.unserved)
            finding = await checks.check_probes(context)
            assert (finding.state, "serves them" in finding.text) == ("ok", True)


async def test_an_address_for_the_probes_that_this_machine_does_not_have_is_a_failure(home: Path) -> None:
    settings = Settings(data_dir=home, monitoring_port=8999, monitoring_host="192.0.2.1")
    assert (await checks.check_probes(CheckContext(settings, SYSTEM_CLOCK))).state == "failed"
