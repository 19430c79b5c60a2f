"""Slash commands and button presses: their payloads, and the response URLs that answer them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiohttp import web

from tests.support.slack_server import shapes
from tests.support.slack_server.methods.blocks import check_blocks, parse_list
from tests.support.slack_server.state import Message, SlackError

if TYPE_CHECKING:
    from tests.support.slack_server.server import Server
    from tests.support.slack_server.socket import Delivery, EnvelopeKind
    from tests.support.slack_server.state import JSON, Channel, User

MAX_USES, LIFE_SECONDS = 5, 1800.0  # of a response URL
CHANNEL_NAMES = {"im": "directmessage", "private": "privategroup"}


@dataclass(slots=True)
class ResponseUrl:
    """What a response URL may do: write to one person, in the thread of the pressed message."""

    channel: Channel
    user: str
    created: float
    thread: str = ""
    uses: int = 0


class Interactions:
    """What people do with an app besides writing messages."""

    def __init__(self, slack: Server) -> None:
        self.slack = slack
        self.hooks: dict[str, ResponseUrl] = {}

    def create_response_url(self, channel: Channel, user: str, thread: str = "") -> str:
        name = self.slack.space.new_id("H")
        self.hooks[name] = ResponseUrl(channel, user, self.slack.clock.time(), thread)
        return f"{self.slack.url}/hooks/{name}"

    async def command(self, user: User, channel: Channel, command: str, text: str) -> Delivery:
        """Run a slash command; its user sees if it is not acknowledged."""
        space = self.slack.space
        if command not in space.app.commands:
            raise SlackError("invalid_command", f"{command} is not a valid command")
        payload: JSON = {
            "team_id": space.team,
            "team_domain": space.domain,
            "channel_id": channel.id,
            "channel_name": CHANNEL_NAMES.get(channel.kind, channel.name),
            "user_id": user.id,
            "user_name": user.name.lower(),
            "command": command,
            "text": text,
            "api_app_id": space.app.id,
            "is_enterprise_install": str(space.is_org_install).lower(),
            "response_url": self.create_response_url(channel, user.id),
            "trigger_id": space.new_trigger(user.id),
        }
        delivery = await self._deliver("slash_commands", payload)
        if delivery.lost:
            error = "operation_timeout" if delivery.lost == "timeout" else "dispatch_failed"
            text = f"{command} failed with the error “{error}”"
            self._post_private(Message(space.new_ts(), channel.id, "USLACKBOT", text, only_for=user.id))
        return delivery

    async def shortcut(self, user: User, channel: Channel, message: Message, name: str) -> Delivery:
        """Choose a shortcut from the menu of a message."""
        space = self.slack.space
        if name not in space.app.shortcuts or not space.app.interactive:
            raise SlackError("invalid_shortcut", f"{name} is not offered")
        payload: JSON = {
            "type": "message_action",
            "callback_id": space.app.shortcuts[name],
            "trigger_id": space.new_trigger(user.id),
            "response_url": self.create_response_url(channel, user.id, message.thread_ts),
            "team": {"id": space.team, "domain": space.domain},
            "user": {"id": user.id, "name": user.name.lower(), "team_id": user.team},
            "channel": {"id": channel.id, "name": CHANNEL_NAMES.get(channel.kind, channel.name)},
            "message_ts": message.ts,
            "message": shapes.message(space, message),
            "action_ts": space.new_ts(),
            "is_enterprise_install": space.is_org_install,
        }
        return await self._deliver("interactive", payload)

    async def press(self, user: User, channel: Channel, message: Message, action: JSON) -> Delivery:
        """Press a button of a message."""
        if not self.slack.space.app.interactive:
            raise SlackError("interactivity_disabled")
        container = {"type": "message", "message_ts": message.ts, "channel_id": channel.id}
        if message.thread_ts:
            container["thread_ts"] = message.thread_ts
        payload: JSON = {
            "container": {**container, "is_ephemeral": bool(message.only_for)},
            "channel": {"id": channel.id, "name": CHANNEL_NAMES.get(channel.kind, channel.name)},
            "response_url": self.create_response_url(channel, user.id, message.thread_ts),
        }
        if not message.only_for:
            payload["message"] = shapes.message(self.slack.space, message)
        return await self._deliver_actions(user, payload, action)

    async def press_in_view(self, user: User, view: JSON, action: JSON) -> Delivery:
        """Press a button of the Home tab."""
        payload = {"container": {"type": "view", "view_id": view["id"]}, "view": view}
        return await self._deliver_actions(user, payload, action)

    async def _deliver_actions(self, user: User, payload: JSON, action: JSON) -> Delivery:
        space = self.slack.space
        base = {
            "type": "block_actions",
            "user": {"id": user.id, "username": user.name.lower(), "team_id": user.team},
            "api_app_id": space.app.id,
            "team": {"id": space.team, "domain": space.domain},
            "trigger_id": space.new_trigger(user.id),
            "is_enterprise_install": space.is_org_install,
        }
        return await self._deliver("interactive", {**base, **payload, "actions": [action]})

    async def submit(self, user: User, values: JSON, view: JSON | None = None) -> JSON:
        """Submit the open view, or what somebody forged; gives what is wrong with fields, else it is closed."""
        space = self.slack.space
        shown = view or space.modals[user.id]
        payload: JSON = {
            "type": "view_submission",
            "team": {"id": space.team, "domain": space.domain},
            "user": {"id": user.id, "name": user.name.lower(), "team_id": user.team},
            "api_app_id": space.app.id,
            "trigger_id": space.new_trigger(user.id),
            "view": {**shown, "state": {"values": values}},
        }
        delivery = await self._deliver("interactive", payload)
        if delivery.lost:
            return {"view": delivery.lost}
        if (delivery.reply or {}).get("response_action") == "errors":
            return dict((delivery.reply or {})["errors"])
        space.modals.pop(user.id, None)
        return {}

    async def _deliver(self, kind: EnvelopeKind, payload: JSON) -> Delivery:
        delivery = self.slack.socket.deliver(kind, payload)
        await self.slack.wait_for(lambda: delivery.is_done, 60, f"for an acknowledgement of {kind}")
        return delivery

    async def answer(self, request: web.Request) -> web.Response:
        """Serve a response URL, which works five times within half an hour."""
        hook = self.hooks.get(request.match_info["hook"])
        if hook is None or self.slack.clock.time() - hook.created > LIFE_SECONDS:
            return web.json_response({"ok": False, "error": "expired_url"}, status=404)
        if hook.uses >= MAX_USES:
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        hook.uses += 1
        body = await request.json()
        space, blocks = self.slack.space, parse_list(body.get("blocks")) or []
        if not body.get("text") and not blocks:
            return web.json_response({"ok": False, "error": "no_text"}, status=400)
        try:
            check_blocks(blocks, self.slack.limits)
        except SlackError as refused:
            return web.json_response(refused.body, status=400)
        message = Message(space.new_ts(), hook.channel.id, space.bot.id, body.get("text", ""), hook.thread)
        message.blocks, message.only_for = blocks, hook.user
        self._post_private(message)
        return web.Response(text="ok")

    def _post_private(self, message: Message) -> None:
        self.slack.space.channels[message.channel].ephemeral_messages.append(message)
        self.slack.space.changed()
