"""The manifests of the package, and the scopes that an app needs."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

APPS_PAGE = "https://api.slack.com/apps"
SCOPES_HINT = f"Add them at {APPS_PAGE} (OAuth & Permissions), then install the app again."
MANIFESTS = {"free": "manifest-free.json", "agent": "manifest.json"}
HTTP_MANIFEST = "manifest-http.json"


def read_manifest(name: str) -> dict[str, Any]:
    """The manifest of the Slack app that the package has under this file name."""
    text = resources.files("adapters.slack").joinpath(name).read_text(encoding="utf-8")
    manifest: dict[str, Any] = json.loads(text)
    return manifest


def list_lacking_scopes(headers: Mapping[str, str]) -> list[str]:
    """The scopes of the smallest manifest that Slack does not name; none if it names no scopes at all."""
    named = next((value for name, value in headers.items() if name.lower() == "x-oauth-scopes"), "")
    granted = {part.strip() for part in named.split(",")} - {""}
    return sorted(set(list_needed_scopes()) - granted) if granted else []


def list_needed_scopes() -> list[str]:
    """The scopes that every app of the bot needs."""
    scopes: list[str] = read_manifest(MANIFESTS["free"])["oauth_config"]["scopes"]["bot"]
    return scopes
