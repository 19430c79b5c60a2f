"""The Bolt app: passes each request of Slack to the listener of its workspace.

Requests for workspaces that are not served are acknowledged and dropped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.middleware.ignoring_self_events.async_ignoring_self_events import AsyncIgnoringSelfEvents
from slack_bolt.response import BoltResponse

from adapters.slack.events.translate import channel_id
from adapters.slack.workspace.messages import is_bot_mentioned
from bot.errors import NotConnected

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from slack_bolt.async_app import AsyncAck, AsyncBoltContext, AsyncBoltRequest
    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.context import BotIdentity
    from adapters.slack.install.installed import InstalledWorkspaces
    from adapters.slack.workspaces import Workspace, Workspaces

log = structlog.get_logger(__name__)

ANY_TYPE = re.compile(".*")
WORKSPACE = "threadlore_workspace"  # key of the context of a request
WITHHELD = "threadlore_withheld"  # likewise: the id of a workspace of which nothing is stored, "" for none


def list_candidate_teams(team: str | None, body: Mapping[str, Any]) -> tuple[str, ...]:
    """The workspaces that a request may be for, the most certain first. Pure.

    `team`: the one that Bolt finds, for an event that of its authorizations. Where an organization installed the app,
    or a channel is shared, a button names it only with its message or its user.
    """
    message, user = body.get("message"), body.get("user")
    teams = [team]
    kind = body.get("type")
    if kind in ("block_actions", "message_action", "view_submission"):
        # The author of the message of a shortcut may be of any workspace.
        teams += [message.get("team")] if isinstance(message, dict) and kind == "block_actions" else []
        teams += [user.get("team_id")] if isinstance(user, dict) else []
    return tuple(str(team_id) for team_id in teams if team_id)


def mentions_other_app(event: Mapping[str, Any], identity: BotIdentity) -> bool:
    """Whether an app_mention is for the same app of another workspace, which gets it as a message. Pure."""
    return event.get("type") == "app_mention" and not is_bot_mentioned(str(event.get("text") or ""), identity)


def build_app(client: AsyncWebClient, workspaces: Workspaces, installed: InstalledWorkspaces | None = None) -> AsyncApp:
    """Build the app with its listeners. `installed`: what follows the installations, if there can be several."""
    app = AsyncApp(
        name=__name__,  # without a name, Bolt searches all loaded modules for that of its caller
        client=client,
        logger=client.logger,
        authorize=_build_authorize(workspaces),
        process_before_response=True,
        request_verification_enabled=False,  # HttpReceiver checks signatures; sockets have none
        ignoring_self_events_enabled=False,  # below, once it is known whether events were missed
        attaching_conversation_kwargs_enabled=False,
    )
    router = EventRouter(workspaces, installed)
    app.middleware(router.find_workspace)
    app.use(AsyncIgnoringSelfEvents(base_logger=client.logger))
    app.event(ANY_TYPE)(router.handle_event)
    app.command(ANY_TYPE)(router.handle_command)
    app.action(ANY_TYPE)(router.handle_action)
    app.shortcut(ANY_TYPE)(router.handle_shortcut)
    app.view(ANY_TYPE)(router.handle_view)
    return app


def _build_authorize(workspaces: Workspaces) -> Callable[..., Awaitable[AuthorizeResult]]:
    """Build Bolt's authorize callback from the known identities, so that no request waits for another API call."""

    async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        workspace = workspaces.find((team_id or "",))
        identity = workspace.context.identity if workspace is not None else None
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_user_id=identity.user if identity is not None else None,
            bot_id=identity.bot if identity is not None else None,
        )

    return authorize


class EventRouter:
    """Finds the workspace of each request."""

    def __init__(self, workspaces: Workspaces, installed: InstalledWorkspaces | None) -> None:
        self._workspaces = workspaces
        self._installed = installed

    async def find_workspace(
        self, body: dict[str, Any], request: AsyncBoltRequest, next_: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        """Put the workspace into the context of a request, and notice missed events before it is handled.

        `app_rate_limited` reports that Slack drops events because of its rate limit; it is no event of its own.
        Raises NotConnected for a workspace that is being opened: Slack repeats what is not acknowledged.
        """
        teams = list_candidate_teams(request.context.team_id, body)
        request.context[WORKSPACE] = workspace = await self._find(teams)
        request.context[WITHHELD] = self._installed.withheld.find(teams) if self._installed and not workspace else ""
        if workspace is not None and workspace.watch is not None:
            await workspace.watch.inspect(request.headers, body)
        if body.get("type") != "app_rate_limited":
            return await next_()
        log.warning("slack.events_rate_limited", hint="Slack sends at most 30,000 events an hour.")
        if workspace is not None:
            workspace.listener.handle_reconnect()
        return BoltResponse(status=200)

    async def _find(self, teams: Collection[str]) -> Workspace | None:
        workspace = self._workspaces.find(teams)
        if workspace is None and self._installed is not None and not self._installed.withheld.find(teams):
            await self._installed.look_for(teams)  # another process may have stored it just now
            if not self._workspaces.expected.isdisjoint(teams):
                raise NotConnected("The workspace is being opened.")
            workspace = self._workspaces.find(teams)
            if workspace is None:
                log.info("slack.workspace_unknown", workspaces=teams)
        return workspace

    async def handle_event(self, body: dict[str, Any], context: AsyncBoltContext) -> None:
        """Pass an event on: also to other workspaces that share its channel, since Slack sends it for one alone."""
        event, workspace = body.get("event") or {}, context.get(WORKSPACE)
        if self._installed is not None and event.get("type") in self._installed.events:
            await self._installed.handle_event(body, context)
            return
        if self._installed is not None and (team := context.get(WITHHELD)):
            await self._installed.withheld.answer(team, event)
        shared = bool(body.get("is_ext_shared_channel"))
        if workspace is not None and not (shared and mentions_other_app(event, workspace.context.identity)):
            await workspace.listener.handle_event(body)
        if shared and event.get("type") != "app_mention":
            for workspace_ in await self._workspaces.list_sharing(channel_id(event), workspace):
                await workspace_.listener.handle_event(body)

    async def handle_command(self, body: dict[str, Any], context: AsyncBoltContext, ack: AsyncAck) -> None:
        """Pass a slash command on; where nothing is stored, its reply says why."""
        if workspace := context.get(WORKSPACE):
            await workspace.listener.handle_command(body)
        team = context.get(WITHHELD)
        await (ack(self._installed.withheld.explain(team)) if self._installed and team else ack())

    async def handle_action(self, body: dict[str, Any], context: AsyncBoltContext, ack: AsyncAck) -> None:
        """Pass a pressed button on."""
        if workspace := context.get(WORKSPACE):
            await workspace.listener.handle_action(body)
        await ack()

    async def handle_shortcut(self, body: dict[str, Any], context: AsyncBoltContext, ack: AsyncAck) -> None:
        """Pass a shortcut of a message's menu on."""
        if workspace := context.get(WORKSPACE):
            await workspace.listener.handle_shortcut(body)
        await ack()

    async def handle_view(self, body: dict[str, Any], context: AsyncBoltContext, ack: AsyncAck) -> None:
        """Pass a submitted form on; it stays open with the errors of its fields."""
        workspace = context.get(WORKSPACE)
        errors = await workspace.listener.handle_view(body) if workspace else {}
        await (ack(response_action="errors", errors=dict(errors)) if errors else ack())
