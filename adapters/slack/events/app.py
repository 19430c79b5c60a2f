"""The Bolt app: passes each request of Slack to the listener of its workspace.

Requests for workspaces that are not served are acknowledged and dropped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from slack_bolt.async_app import AsyncAck, AsyncBoltContext, AsyncBoltRequest
    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.workspaces import Workspace, Workspaces

log = structlog.get_logger(__name__)

ANY_TYPE = re.compile(".*")


def list_candidate_teams(team: str | None, body: Mapping[str, Any]) -> tuple[str, ...]:
    """The workspaces that a request may be for, the most certain first. Pure.

    `team`: the one that Bolt finds, for an event that of its authorizations. Where an organization installed the app,
    or a channel is shared, a button names it only with its message or its user.
    """
    message, user = body.get("message"), body.get("user")
    teams = [team]
    if body.get("type") == "block_actions":
        teams += [message.get("team")] if isinstance(message, dict) else []
        teams += [user.get("team_id")] if isinstance(user, dict) else []
    return tuple(str(each) for each in teams if each)


def build_app(client: AsyncWebClient, workspaces: Workspaces) -> AsyncApp:
    """Build the app with its listeners."""
    app = AsyncApp(
        client=client,
        logger=client.logger,
        authorize=_build_authorize(workspaces),
        process_before_response=True,
        request_verification_enabled=False,  # HttpReceiver checks signatures; sockets have none
        attaching_conversation_kwargs_enabled=False,
    )
    router = EventRouter(workspaces)
    app.middleware(router.handle_signals)
    app.event(ANY_TYPE)(router.handle_event)
    app.command(ANY_TYPE)(router.handle_command)
    app.action(ANY_TYPE)(router.handle_action)
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

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def handle_signals(
        self, body: dict[str, Any], request: AsyncBoltRequest, next_: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        """Notice missed events before a request is handled.

        `app_rate_limited` reports that Slack drops events because of its rate limit; it is no event of its own.
        """
        workspace = await self._find(request.context, body)
        if workspace is not None and workspace.watch is not None:
            workspace.watch.inspect(request.headers, body)
        if body.get("type") != "app_rate_limited":
            return await next_()
        log.warning("slack.events_rate_limited", hint="Slack sends at most 30,000 events an hour.")
        if workspace is not None:
            workspace.listener.handle_reconnect()
        return BoltResponse(status=200)

    async def handle_event(self, body: dict[str, Any], context: AsyncBoltContext, request: AsyncBoltRequest) -> None:
        """Pass an event on."""
        if workspace := await self._find(context, body):
            await workspace.listener.handle_event(body, request)

    async def handle_command(self, body: dict[str, Any], context: AsyncBoltContext, ack: AsyncAck) -> None:
        """Pass a slash command on."""
        if workspace := await self._find(context, body):
            await workspace.listener.handle_command(body)
        await ack()

    async def handle_action(self, body: dict[str, Any], context: AsyncBoltContext, ack: AsyncAck) -> None:
        """Pass a pressed button on."""
        if workspace := await self._find(context, body):
            await workspace.listener.handle_action(body)
        await ack()

    async def _find(self, context: AsyncBoltContext, body: Mapping[str, Any]) -> Workspace | None:
        teams = list_candidate_teams(context.team_id, body)
        workspace = self._workspaces.find(teams)
        if workspace is None:
            log.info("slack.request_dropped", workspaces=teams, hint="The app is not installed there.")
        return workspace
