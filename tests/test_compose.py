"""The compose files: their settings exist, their services find each other, and every probe they name is served."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from adapters.slack.http_receiver import PATH
from adapters.slack.install.pages import INSTALL_PATH, REDIRECT_PATH
from adapters.slack.settings import SlackSettings
from bot.monitoring.health import ServerHealth, ServerState, serve_monitoring
from bot.monitoring.metrics import Metrics
from bot.settings import PREFIX, Settings
from engine.clock import SYSTEM_CLOCK

ROOT = Path(__file__).parents[1]
FILES = {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(ROOT.glob("compose*.yaml"))}
MANY: dict[str, Any] = FILES["compose.postgres.yaml"]
BOTS = {name: service for name, service in MANY["services"].items() if service.get("image") == "threadlore"}
PROXY: str = MANY["configs"]["proxy"]["content"]
PROBE = re.compile(r"(?:health_uri|reverse_proxy) (/\w+)")


def upstreams() -> set[tuple[str, str]]:
    """The services and ports that the proxy passes requests to."""
    return set(re.findall(r"\b([a-z]+-\d):(\d+)", PROXY))


@pytest.mark.parametrize("name", FILES)
def test_every_setting_exists_and_has_a_value_that_it_takes(name: str) -> None:
    slack = {f"SLACK_{field}".upper() for field in SlackSettings.model_fields}
    for service in FILES[name]["services"].values():
        settings = {
            key.removeprefix(PREFIX): value
            for key, value in service.get("environment", {}).items()
            if key.startswith(PREFIX)
        }
        assert settings.keys() <= {field.upper() for field in Settings.model_fields} | slack
        own = {key.lower(): value for key, value in settings.items() if key not in slack}
        Settings(**{**own, "data_dir": "/tmp"})  # raises ValidationError
        SlackSettings(**{key.removeprefix("SLACK_").lower(): value for key, value in settings.items() if key in slack})


@pytest.mark.parametrize("name", FILES)
def test_every_volume_and_service_that_is_named_exists(name: str) -> None:
    content = FILES[name]
    used = [
        volume.partition(":")[0] for service in content["services"].values() for volume in service.get("volumes", [])
    ]
    assert set(used) == set(content["volumes"])
    assert len(used) == len(set(used)), "two services share a data directory"
    needed = {dependency for service in content["services"].values() for dependency in service.get("depends_on", ())}
    assert needed <= content["services"].keys()


def test_three_bots_differ_in_their_volume_only_and_wait_for_a_database_with_vectors() -> None:
    assert len(BOTS) == 3
    rest = [{key: value for key, value in service.items() if key != "volumes"} for service in BOTS.values()]
    assert rest[0] == rest[1] == rest[2]
    postgres = MANY["services"]["postgres"]
    assert "pgvector" in postgres["image"]
    assert "healthcheck" in postgres
    login = postgres["environment"]
    expected = f"postgresql://{login['POSTGRES_USER']}:{login['POSTGRES_PASSWORD']}@postgres/{login['POSTGRES_DB']}"
    assert rest[0]["environment"][f"{PREFIX}DATABASE"] == expected
    assert rest[0]["depends_on"]["postgres"]["condition"] == "service_healthy"


def test_the_proxy_reaches_the_ports_and_paths_of_every_bot() -> None:
    environment = next(iter(BOTS.values()))["environment"]
    ports = {environment[f"{PREFIX}SLACK_HTTP_PORT"], environment[f"{PREFIX}MONITORING_PORT"]}
    assert upstreams() == {(bot, port) for bot in BOTS for port in ports}
    assert f"health_port {environment[f'{PREFIX}MONITORING_PORT']}" in PROXY
    for path in (PATH, INSTALL_PATH, REDIRECT_PATH):
        assert path.startswith("/slack/")
    assert "reverse_proxy /slack/* " in PROXY


async def test_every_probe_that_is_named_is_served() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    probes = {*PROBE.findall(PROXY.replace("/slack/*", "")), *re.findall(r"\{port\}(/\w+)", dockerfile)}
    assert probes == {"/healthz", "/readyz"}
    health = ServerHealth(Metrics(SYSTEM_CLOCK), ServerState.READY)
    async with serve_monitoring("127.0.0.1", 0, health) as port, aiohttp.ClientSession() as session:
        for probe in probes:
            async with session.get(f"http://127.0.0.1:{port}{probe}") as response:
                assert response.status == 200


def test_the_image_contains_the_library_for_the_database() -> None:
    locked = re.findall(
        r"^([a-z0-9-]+)==", (ROOT / "requirements-extras.lock").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {"psycopg", "psycopg-binary", "psycopg-pool", "pgvector"} <= set(locked)
