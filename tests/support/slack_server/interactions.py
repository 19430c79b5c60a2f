"""Commands, clicks and modals: their payloads, and the two ways to answer them (trigger ids, response addresses)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.support.slack_server import limits, shapes
from tests.support.slack_server.methods.views import view_json
from tests.support.slack_server.refusals import SlackError
from tests.support.slack_server.state import Message

if TYPE_CHECKING:
    from tests.support.slack_server.server import Server
    from tests.support.slack_server.socket import Delivery, EnvelopeKind
    from tests.support.slack_server.state import JSON, Channel, User, View

USES, LIFE = 5, 1800.0
NAMES = {"im": "directmessage", "private": "privategroup"}


@dataclass(slots=True)
class ResponseUrl:
    """A response address. `original`: the message whose button was pressed."""

    channel: Channel
    user: str
    made: float
    original: Message | None = None
    uses: int = 0


class Interactions:
    """What people do with an app besides talking."""

    def __init__(self, slack: Server) -> None:
        self.slack = slack
        self.hooks: dict[str, ResponseUrl] = {}
        self.triggers: dict[str, tuple[str, float]] = {}

    def _trigger(self, user: str) -> str:
        trigger = f"{self.slack.space.new_id('1')}.{self.slack.space.new_id('2')}"
        self.triggers[trigger] = (user, self.slack.clock.now())
        return trigger

    def exchange(self, trigger: str) -> str:
        """The user behind a trigger id, which is good once, and for three seconds."""
        if trigger not in self.triggers:
            raise SlackError("exchanged_trigger_id" if trigger.startswith("1") else "invalid_trigger_id")
        user, made = self.triggers.pop(trigger)
        if self.slack.clock.now() - made > self.slack.limits.trigger_life:
            raise SlackError("expired_trigger_id")
        return user

    def _response_url(self, channel: Channel, user: str, original: Message | None = None) -> str:
        name = self.slack.space.new_id("H")
        self.hooks[name] = ResponseUrl(channel, user, self.slack.clock.now(), original)
        return f"{self.slack.url}/hooks/{name}"

    async def command(self, user: User, channel: Channel, command: str, text: str) -> Delivery:
        """A slash command; what comes with the acknowledgement is shown, and so is its absence."""
        space = self.slack.space
        if command not in space.app.commands:
            raise SlackError("invalid_command", f"{command} is not a valid command")
        payload: JSON = {
            "token": "verification-token",
            "team_id": space.team,
            "team_domain": space.domain,
            "channel_id": channel.id,
            "channel_name": NAMES.get(channel.kind, channel.name),
            "user_id": user.id,
            "user_name": user.name.lower(),
            "command": command,
            "text": text,
            "api_app_id": space.app.id,
            "is_enterprise_install": "false",
            "response_url": self._response_url(channel, user.id),
            "trigger_id": self._trigger(user.id),
        }
        parcel = await self._deliver("slash_commands", payload)
        if parcel.lost:
            error = "operation_timeout" if parcel.lost == "timeout" else "dispatch_failed"
            self._post_private(channel, user.id, {"text": f"{command} failed with the error “{error}”"}, "USLACKBOT")
        elif parcel.reply:
            self._respond(ResponseUrl(channel, user.id, 0), parcel.reply)
        return parcel

    async def _deliver(self, kind: EnvelopeKind, payload: JSON) -> Delivery:
        parcel = self.slack.socket.deliver(kind, payload)
        await self.slack.wait_for(lambda: parcel.is_done, 60, f"for an acknowledgement of {kind}")
        return parcel

    def _base_payload(self, kind: str, user: User) -> JSON:
        space = self.slack.space
        person = {"id": user.id, "username": user.name.lower(), "name": user.name.lower(), "team_id": user.team}
        return {
            "type": kind,
            "user": person,
            "api_app_id": space.app.id,
            "token": "verification-token",
            "trigger_id": self._trigger(user.id),
            "team": {"id": space.team, "domain": space.domain},
            "enterprise": None,
            "is_enterprise_install": False,
        }

    async def press(self, user: User, channel: Channel, message: Message, action: JSON) -> Delivery:
        """A press on a button of a message."""
        if not self.slack.space.app.interactive:
            raise SlackError("interactivity_disabled")
        container: JSON = {"type": "message", "message_ts": message.ts, "channel_id": channel.id}
        container["is_ephemeral"] = bool(message.only_for)
        if message.thread_ts:
            container["thread_ts"] = message.thread_ts
        name = NAMES.get(channel.kind, channel.name)
        payload = self._base_payload("block_actions", user) | {"container": container, "state": {"values": {}}}
        payload |= {"channel": {"id": channel.id, "name": name}, "actions": [action]}
        payload["response_url"] = self._response_url(channel, user.id, message)
        if not message.only_for:
            payload["message"] = shapes.message(self.slack.space, message)
        return await self._deliver("interactive", payload)

    async def press_in_view(self, user: User, view: View, action: JSON) -> Delivery:
        """A press on a button of the Home tab or of a modal."""
        told = view_json(self.slack.space.team, view)
        payload = self._base_payload("block_actions", user) | {"container": {"type": "view", "view_id": view.id}}
        return await self._deliver("interactive", payload | {"view": told, "actions": [action]})

    async def submit(self, user: User, view: View, values: JSON) -> Delivery:
        """A modal is sent off with what was filled in."""
        told = view_json(self.slack.space.team, view) | {"state": {"values": values}}
        return await self._deliver(
            "interactive", self._base_payload("view_submission", user) | {"view": told, "response_urls": []}
        )

    async def answer(self, request: web.Request) -> web.Response:
        """The end of a response address: five times, for half an hour."""
        hook = self.hooks.get(request.match_info["hook"])
        if hook is None or self.slack.clock.now() - hook.made > LIFE:
            return web.json_response({"ok": False, "error": "expired_url"}, status=404)
        if hook.uses >= USES:
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        hook.uses += 1
        try:
            self._respond(hook, await request.json())
        except SlackError as refused:
            return web.json_response(refused.body, status=400)
        return web.Response(text="ok")

    def _respond(self, hook: ResponseUrl, body: JSON) -> None:
        space = self.slack.space
        blocks = limits.parse_list(body.get("blocks"))
        if blocks:
            limits.BlockValidator(self.slack.limits).check(blocks)
        if body.get("delete_original") and hook.original is not None:
            self._delete_original(hook)
            return
        if not body.get("text") and not blocks:
            raise SlackError("no_text")
        if body.get("replace_original") and hook.original is not None:
            hook.original.text, hook.original.blocks, hook.original.stream = body.get("text", ""), blocks, None
            space.changed()
        elif body.get("response_type") == "in_channel":
            said = Message(space.new_ts(), hook.channel.id, space.bot.id, body.get("text", ""), blocks=blocks)
            self.slack.actions.post(hook.channel, said, unfurl=False)
        else:
            thread = hook.original.thread_ts if hook.original is not None else ""
            self._post_private(hook.channel, hook.user, {"text": "", "thread_ts": thread, **body}, space.bot.id)

    def _delete_original(self, hook: ResponseUrl) -> None:
        assert hook.original is not None
        if hook.original.only_for:
            hook.channel.ephemeral_messages.remove(hook.original)
            self.slack.space.changed()
        else:
            self.slack.actions.delete(hook.channel, hook.original)

    def _post_private(self, channel: Channel, reader: str, body: JSON, author: str) -> None:
        space = self.slack.space
        said = Message(space.new_ts(), channel.id, author, body["text"], body.get("thread_ts") or "")
        said.blocks, said.only_for = limits.parse_list(body.get("blocks")), reader
        channel.ephemeral_messages.append(said)
        space.changed()


def action(block: JSON, element: JSON, stamp: str, **more: Any) -> JSON:
    """A pressed element, as a payload names it."""
    body = {key: element[key] for key in ("action_id", "text", "value", "type", "style", "url") if key in element}
    return body | {"block_id": block.get("block_id", ""), "action_ts": stamp} | more
