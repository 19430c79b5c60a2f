"""Implements bot.platform.ports.Platform for all workspaces: each call goes to the workspace of its location."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adapters.common.router import RoutedCalls
from adapters.slack.context import NAME
from adapters.slack.platform import SlackPlatform
from adapters.slack.settings import TRAITS
from bot.errors import NotConnected, PermissionDenied

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from adapters.slack.workspaces import Workspaces
    from bot.platform.models import Location


class WorkspaceRouter(RoutedCalls):
    """All workspaces of Slack. A call for one that is not served raises PermissionDenied.

    One that the app is installed in, but that was not reached yet, raises NotConnected: the call is retried.

    `is_own`: whether a workspace belongs to whoever runs the bot. `is_absent`: whether the app is surely not installed
    in one that is neither served nor expected. Without these, all are, and all others are not.
    """

    name = NAME
    traits = TRAITS
    limits = SlackPlatform.limits

    def __init__(
        self,
        workspaces: Workspaces,
        is_own: Callable[[str], bool] | None = None,
        is_absent: Callable[[str], bool] | None = None,
    ) -> None:
        self._workspaces = workspaces
        self._is_absent = is_absent
        self.traits = replace(TRAITS, reads_past=is_own or (lambda _: True))

    def get_workspace(self, workspace: str) -> SlackPlatform:
        found = self._workspaces.get(workspace)
        if found is not None:
            return found.platform
        if workspace in self._workspaces.expected:
            raise NotConnected("There is no connection to this workspace yet.")
        raise PermissionDenied("The app is not installed in this workspace.")

    def serves(self, workspace: str) -> bool:
        """Whether a workspace was reached; requests for one that the app left are answered here, too."""
        if self._workspaces.get(workspace) is not None:
            return True
        is_expected = workspace in self._workspaces.expected
        return not is_expected and (self._is_absent is None or self._is_absent(workspace))

    def forget_cached(self, location: Location) -> None:
        """Look up again what is cached of a location, or of all workspaces."""
        for workspace in self._workspaces:
            if location.workspace in ("", workspace.team):
                workspace.platform.forget_cached(location)

    @property
    def listable_workspaces(self) -> Collection[str]:
        """The workspaces that let the app list channels."""
        return tuple(team for workspace in self._workspaces for team in workspace.platform.listable_workspaces)
