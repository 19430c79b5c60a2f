"""auth.test, apps.connections.open, reactions, assistant.threads and views.publish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.slack_server.methods.blocks import check_blocks
from tests.support.slack_server.methods.call import Call, method
from tests.support.slack_server.state import SlackError

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON, Message

EMOJI = frozenset({"hourglass_flowing_sand", "white_check_mark", "warning", "eyes"})  # those that the adapter uses
MAX_PROMPTS = 4


@method("auth.test", minute=600)
def auth_test(call: Call) -> JSON:
    space = call.space
    url = f"https://{space.domain}.slack.com/"
    body = {"url": url, "team": space.name, "team_id": space.team, "user": space.app.handle}
    return {**body, "user_id": space.bot.id, "bot_id": space.bot.bot_id, "is_enterprise_install": False}


@method("apps.connections.open", minute=60, token="xapp")
def open_connection(call: Call) -> JSON:
    return {"url": call.slack.socket_url(call.slack.socket.ticket())}


def _find_reactions(call: Call) -> tuple[Message, list[str], str]:
    """The message of the call, those who reacted to it with the emoji of the call, and the emoji."""
    name = call.text("name")
    if name not in EMOJI:
        raise SlackError("invalid_name")
    message = call.space.message(call.joined_channel(), call.text("timestamp"))
    return message, message.reactions.get(name, []), name


@method("reactions.add", "reactions:write", minute=50)
def add_reaction(call: Call) -> JSON:
    message, users, name = _find_reactions(call)
    if call.space.bot.id in users:
        raise SlackError("already_reacted")
    message.reactions[name] = [*users, call.space.bot.id]
    call.space.changed()
    return {}


@method("reactions.remove", "reactions:write", minute=20)
def remove_reaction(call: Call) -> JSON:
    message, users, name = _find_reactions(call)
    if call.space.bot.id not in users:
        raise SlackError("no_reaction")
    users.remove(call.space.bot.id)
    if not users:
        del message.reactions[name]
    call.space.changed()
    return {}


@method("assistant.threads.setStatus", "assistant:write", "chat:write", minute=600)
def set_status(call: Call) -> JSON:
    if not call.space.app.agent:
        raise SlackError("feature_not_enabled")
    channel = call.joined_channel("channel_id")
    root = call.text("thread_ts")
    call.space.message(channel, root, "thread_not_found")
    if call.text("status"):
        channel.statuses[root] = (call.text("status"), call.space.clock.time())
    else:
        channel.statuses.pop(root, None)
    call.space.changed()
    return {}


@method("assistant.threads.setSuggestedPrompts", "assistant:write", minute=100)
def set_prompts(call: Call) -> JSON:
    """Prompts that name a thread are accepted and never shown in the agent pane."""
    channel, prompts = call.joined_channel("channel_id"), call.items("prompts", "invalid_arguments")
    if channel.kind != "im":
        raise SlackError("channel_type_not_supported")
    if not 1 <= len(prompts) <= MAX_PROMPTS or not all(
        prompt.get("title") and prompt.get("message") for prompt in prompts
    ):
        raise SlackError("invalid_arguments", f"1 to {MAX_PROMPTS} prompts with title and message are required")
    if not call.text("thread_ts"):
        channel.prompts = prompts
        call.space.changed()
    return {}


@method("views.publish", minute=100)
def publish(call: Call) -> JSON:
    user, view = call.space.user(call.text("user_id")), call.object("view") or {}
    if not call.space.app.has_home_tab:
        raise SlackError("not_enabled")
    if view.get("type") != "home" or not isinstance(view.get("blocks"), list):
        raise SlackError("invalid_arguments", "must be a view of type home [json-pointer:/view/type]")
    check_blocks(view["blocks"], call.slack.limits, view=True)
    call.space.homes[user.id] = {**view, "id": call.space.new_id("V")}
    call.space.changed()
    return {"view": call.space.homes[user.id]}
