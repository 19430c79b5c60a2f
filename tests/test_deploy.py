"""The files for Kubernetes, Prometheus and Grafana: every setting, port, probe, volume and metric in them exists."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from adapters.slack.http_receiver import PATH
from adapters.slack.settings import SlackSettings
from bot.monitoring.health import ServerHealth, ServerState, serve_monitoring
from bot.monitoring.metrics import Metrics
from bot.settings import PREFIX, Settings
from engine.clock import SYSTEM_CLOCK
from engine.scheduling.supervisor import Supervisor

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
MANIFESTS: dict[str, list[dict[str, Any]]] = {
    path.name: list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
}
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
BOARD: dict[str, Any] = json.loads((DEPLOY / "grafana/threadlore.json").read_text())
BOARD_QUERIES = [target["expr"] for panel in BOARD["panels"] for target in panel["targets"]]
USER = re.search(r"useradd --uid (\d+)", (ROOT / "Dockerfile").read_text())
VERSION = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
KINDS = {"Service": "v1", "Ingress": "networking.k8s.io/v1", "PodDisruptionBudget": "policy/v1"}
KINDS |= {"StatefulSet": "apps/v1", "Deployment": "apps/v1"}

each_manifest = pytest.mark.parametrize("name", MANIFESTS)
each_query = pytest.mark.parametrize("query", [*(rule["expr"] for rule in RULES), *BOARD_QUERIES])


def find(name: str, *kinds: str) -> dict[str, Any]:
    [found] = [manifest_part for manifest_part in MANIFESTS[name] if manifest_part["kind"] in kinds]
    return found


def find_workload(name: str) -> dict[str, Any]:
    return find(name, "StatefulSet", "Deployment")


def find_pod(name: str) -> dict[str, Any]:
    pod: dict[str, Any] = find_workload(name)["spec"]["template"]["spec"]
    return pod


def find_container(name: str) -> dict[str, Any]:
    [container] = find_pod(name)["containers"]
    return dict(container)


@each_manifest
def test_every_object_has_its_version_and_selects_the_pods_of_the_file(name: str) -> None:
    for manifest_part in MANIFESTS[name]:
        assert manifest_part["apiVersion"] == KINDS[manifest_part["kind"]]
        assert manifest_part["metadata"]["name"] == "threadlore"
    workload = find_workload(name)
    labels = workload["spec"]["template"]["metadata"]["labels"]
    assert workload["spec"]["selector"]["matchLabels"] == labels
    assert find(name, "Service")["spec"]["selector"] == labels


@each_manifest
def test_every_setting_exists_and_has_a_value_that_it_takes(name: str) -> None:
    values = {each["name"].removeprefix(PREFIX).lower(): each["value"] for each in find_container(name)["env"]}
    slack = {key.removeprefix("slack_"): value for key, value in values.items() if key.startswith("slack_")}
    assert slack.keys() <= SlackSettings.model_fields.keys()
    own = {key: value for key, value in values.items() if not key.startswith("slack_")}
    assert own.keys() <= Settings.model_fields.keys()
    Settings(**own)
    SlackSettings(**slack)
    ports = {port["name"]: port["containerPort"] for port in find_container(name)["ports"]}
    assert str(ports["monitoring"]) == values["monitoring_port"]
    assert str(ports.get("slack", "")) == slack.get("http_port", "")


@each_manifest
def test_nothing_runs_with_rights_or_writes_but_into_its_volumes(name: str) -> None:
    pod, container = find_pod(name), find_container(name)
    assert USER
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["fsGroup"] == int(USER[1])
    assert not pod["automountServiceAccountToken"]
    rights = container["securityContext"]
    assert rights["readOnlyRootFilesystem"]
    assert not rights["allowPrivilegeEscalation"]
    assert rights["capabilities"] == {"drop": ["ALL"]}
    claims = find_workload(name)["spec"].get("volumeClaimTemplates", [])
    volumes = [volume["name"] for volume in pod["volumes"]] + [claim["metadata"]["name"] for claim in claims]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert sorted(volumes) == sorted(mounts)
    data_dir = next(each["value"] for each in container["env"] if each["name"] == f"{PREFIX}DATA_DIR")
    assert data_dir.startswith(f"{mounts['data']}/")


@each_manifest
def test_the_image_is_of_this_version(name: str) -> None:
    assert VERSION
    assert find_container(name)["image"] == f"threadlore:{VERSION[1]}"


@each_manifest
def test_the_ports_that_services_name_are_there(name: str) -> None:
    ports = {port["name"]: port["containerPort"] for port in find_container(name)["ports"]}
    service = {port["name"]: (port["port"], port["targetPort"]) for port in find(name, "Service")["spec"]["ports"]}
    assert service == {port: (number, port) for port, number in ports.items()}
    scraped = find_workload(name)["spec"]["template"]["metadata"]["annotations"]["prometheus.io/port"]
    assert scraped == str(ports["monitoring"])
    for ingress in (manifest_part for manifest_part in MANIFESTS[name] if manifest_part["kind"] == "Ingress"):
        for path in ingress["spec"]["rules"][0]["http"]["paths"]:
            assert PATH.startswith(f"{path['path']}/")
            assert path["backend"]["service"]["port"]["name"] in service


async def test_every_probe_that_is_named_is_served() -> None:
    kinds = ("startupProbe", "livenessProbe", "readinessProbe")
    probes = [find_container(name)[kind]["httpGet"] for name in MANIFESTS for kind in kinds]
    health = ServerHealth(Metrics(SYSTEM_CLOCK), ServerState.READY)
    async with serve_monitoring("127.0.0.1", 0, health) as port, aiohttp.ClientSession() as session:
        for path in {probe["path"] for probe in probes}:
            async with session.get(f"http://127.0.0.1:{port}{path}") as response:
                assert response.status == 200
    assert {probe["port"] for probe in probes} == {"monitoring"}


def list_metrics() -> Iterator[tuple[str, set[str]]]:
    """The names that Prometheus gives the metrics of a bot, with their labels."""
    metrics = Metrics(SYSTEM_CLOCK)
    metrics.register_supervisor(Supervisor(SYSTEM_CLOCK))
    metrics.record_question("p", "failed")
    metrics.record_activity("p")
    suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
    labels = {"threadlore_background_task_failures": {"task"}, "threadlore_background_task_failing": {"task"}}
    own = {var._name: set(var._labelnames) for var in vars(metrics).values() if hasattr(var, "_labelnames")}
    for family in metrics.registry.collect():
        known = labels.get(family.name) or own.get(family.name, set())
        for suffix in suffixes.get(family.type, ("",)):
            yield family.name + suffix, known


METRICS = dict(list_metrics())
TAKEN = {"instance", "job"}  # labels that Prometheus adds


@each_query
def test_every_metric_and_label_of_a_query_exists(query: str) -> None:
    names = re.findall(r"\b(?:threadlore|process)_\w+", re.sub(r'"[^"]*"', "", query))
    assert names
    assert set(names) <= METRICS.keys()
    labels = set().union(*(METRICS[name] for name in names)) | {"le"} | TAKEN
    grouped = {part.strip() for found in re.findall(r"by \(([^)]*)\)", query) for part in found.split(",")}
    selected = set(re.findall(r"[{,]\s*(\w+)\s*=", query))
    assert grouped | selected <= labels
    assert query.count("(") == query.count(")")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_says_what_is_wrong_and_what_to_do(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert rule["annotations"].keys() == {"summary", "description"}
    shown = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
    names = re.findall(r"\bthreadlore_\w+", rule["expr"])
    assert shown <= set().union(*(METRICS[name] for name in names))


def test_the_board_shows_every_metric_and_its_panels_do_not_overlap() -> None:
    text = "\n".join(BOARD_QUERIES)
    shown = {name for name in METRICS if re.search(rf"\b{name}\b", text)}
    families = {re.sub(r"_(total|bucket|sum|count)$", "", name) for name in METRICS if name.startswith("threadlore_")}
    assert families == {
        re.sub(r"_(total|bucket|sum|count)$", "", name) for name in shown if name.startswith("threadlore")
    }
    cells = [
        (column, row)
        for place in (panel["gridPos"] for panel in BOARD["panels"])
        for column in range(place["x"], place["x"] + place["w"])
        for row in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(column for column, _ in cells) < 24
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])
