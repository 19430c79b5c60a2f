"""The app as its manifest describes it: what it may do, and what it hears of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SCOPE_NAMES = """
    app_mentions:read assistant:write channels:history channels:join channels:read chat:write commands files:read
    files:write groups:history groups:read im:history im:read im:write mpim:history mpim:read reactions:read
    reactions:write team:read usergroups:read users:read
"""
EVENT_NAMES = """
    app_home_opened app_mention app_uninstalled channel_archive channel_created channel_deleted channel_left
    channel_rename channel_shared channel_unarchive channel_unshared file_change file_deleted file_shared
    group_archive group_deleted group_left group_rename group_unarchive member_joined_channel member_left_channel
    message.channels message.groups message.im message.mpim reaction_added reaction_removed team_join
    tokens_revoked user_change
"""
SCOPES = frozenset(SCOPE_NAMES.split())
EVENTS = frozenset(EVENT_NAMES.split())
# What an event needs besides its subscription; any one of them will do.
NEEDS: dict[str, tuple[str, ...]] = {
    "app_mention": ("app_mentions:read",),
    "message.channels": ("channels:history",),
    "message.groups": ("groups:history",),
    "message.im": ("im:history",),
    "message.mpim": ("mpim:history",),
    "member_joined_channel": ("channels:read", "groups:read"),
    "member_left_channel": ("channels:read", "groups:read"),
    "file_shared": ("files:read",),
    "file_deleted": ("files:read",),
    "file_change": ("files:read",),
    "reaction_added": ("reactions:read",),
    "reaction_removed": ("reactions:read",),
    "user_change": ("users:read",),
    "team_join": ("users:read",),
}


@dataclass(frozen=True, slots=True)
class App:
    """`commands` as they are typed, with the slash, and `escaped` those whose names of people come as ids.

    `home`: whether the Home tab is on. `agent`: whether it has the features of an agent, which need a paid plan.
    """

    name: str = "Threadlore"
    handle: str = "threadlore"
    scopes: frozenset[str] = SCOPES
    events: frozenset[str] = EVENTS
    commands: frozenset[str] = frozenset({"/threadlore"})
    escaped: frozenset[str] = frozenset({"/threadlore"})
    has_home_tab: bool = True
    agent: bool = True
    interactive: bool = True
    bot_token: str = "xoxb-1000-2000-threadlore"
    app_token: str = "xapp-1-A0THREADLORE-3000-threadlore"
    id: str = "A0THREADL0RE"
    emoji: frozenset[str] = field(default_factory=frozenset)

    def is_subscribed(self, event: str) -> bool:
        """Whether an event of this kind is subscribed to, and granted."""
        return event in self.events and (event not in NEEDS or bool(self.scopes.intersection(NEEDS[event])))

    @staticmethod
    def from_manifest(manifest: dict[str, Any]) -> App:
        """The app that a manifest creates."""
        features, settings = manifest.get("features", {}), manifest.get("settings", {})
        return App(
            name=manifest["display_information"]["name"],
            handle=features.get("bot_user", {}).get("display_name", "bot").lower(),
            scopes=frozenset(manifest.get("oauth_config", {}).get("scopes", {}).get("bot", ())),
            events=frozenset(settings.get("event_subscriptions", {}).get("bot_events", ())),
            commands=frozenset(command["command"] for command in features.get("slash_commands", ())),
            escaped=frozenset(
                each["command"] for each in features.get("slash_commands", ()) if each.get("should_escape")
            ),
            has_home_tab=features.get("app_home", {}).get("home_tab_enabled", False),
            agent="agent_view" in features,
            interactive=settings.get("interactivity", {}).get("is_enabled", False),
        )
