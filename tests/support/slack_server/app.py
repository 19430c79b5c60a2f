"""An installed app, as its manifest describes it: its scopes, events and commands."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# The scopes that an event needs besides its subscription; one of them is enough.
NEEDS: dict[str, tuple[str, ...]] = {
    "app_mention": ("app_mentions:read",),
    "message.channels": ("channels:history",),
    "message.groups": ("groups:history",),
    "message.im": ("im:history",),
    "message.mpim": ("mpim:history",),
    "member_joined_channel": ("channels:read", "groups:read"),
    "member_left_channel": ("channels:read", "groups:read"),
    "file_deleted": ("files:read",),
    "user_change": ("users:read",),
    "team_join": ("users:read",),
}


@dataclass(frozen=True, slots=True)
class App:
    """An app. `commands`: for each slash command, whether names in its text come as ids.

    `agent`: whether the app has the features of an agent, which need a paid plan.
    `shortcuts`: of the menu of messages, the callback ids by name.
    """

    name: str
    scopes: frozenset[str]
    events: frozenset[str]
    commands: Mapping[str, bool]
    has_home_tab: bool
    agent: bool
    interactive: bool
    shortcuts: Mapping[str, str]
    handle: str = "threadlore"
    bot_token: str = "xoxb-1000-2000-threadlore"
    app_token: str = "xapp-1-A0THREADLORE-3000-threadlore"
    id: str = "A0THREADL0RE"

    def is_subscribed(self, event: str) -> bool:
        """Whether the app is subscribed to an event and has a scope for it."""
        return event in self.events and (event not in NEEDS or not self.scopes.isdisjoint(NEEDS[event]))

    @staticmethod
    def from_manifest(manifest: Mapping[str, Any] | None = None) -> App:
        """The app that a manifest creates; by default the shipped manifest."""
        if manifest is None:
            manifest = json.loads(resources.files("adapters.slack").joinpath("manifest.json").read_text("utf-8"))
        features, settings = manifest.get("features", {}), manifest.get("settings", {})
        return App(
            name=manifest["display_information"]["name"],
            scopes=frozenset(manifest["oauth_config"]["scopes"]["bot"]),
            events=frozenset(settings.get("event_subscriptions", {}).get("bot_events", ())),
            commands={
                feature["command"]: feature.get("should_escape", False)
                for feature in features.get("slash_commands", ())
            },
            has_home_tab=features.get("app_home", {}).get("home_tab_enabled", False),
            agent="agent_view" in features,
            interactive=settings.get("interactivity", {}).get("is_enabled", False),
            shortcuts={feature["name"]: feature["callback_id"] for feature in features.get("shortcuts", ())},
        )
