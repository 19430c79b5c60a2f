"""assistant.threads.setStatus, setSuggestedPrompts, setTitle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.slack_server.call import Call, method
from tests.support.slack_server.refusals import SlackError
from tests.support.slack_server.state import Status

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON

PROMPTS = 4
LOADING = 10


@method("assistant.threads.setStatus", "assistant:write", "chat:write", minute=600)
def set_status(call: Call) -> JSON:
    if not call.space.app.agent:
        raise SlackError("feature_not_enabled")
    channel = call.inside("channel_id")
    root = call.require("thread_ts")
    call.space.message(channel, root, "thread_not_found")
    if "status" not in call.args:
        raise SlackError("invalid_arguments", "missing required field: status")
    loading = call.items("loading_messages", "invalid_arguments") or []
    if len(loading) > LOADING or not all(isinstance(each, str) and each for each in loading):
        raise SlackError("invalid_arguments", f"no more than {LOADING} items allowed [json-pointer:/loading_messages]")
    if call.text("status"):
        channel.statuses[root] = Status(call.text("status"), call.space.clock.now(), tuple(map(str, loading)))
    else:
        channel.statuses.pop(root, None)
    call.space.changed()
    return {}


@method("assistant.threads.setSuggestedPrompts", "assistant:write", minute=100)
def set_prompts(call: Call) -> JSON:
    """In the agent pane prompts that name a thread are accepted, and never seen."""
    channel = call.inside("channel_id")
    prompts = call.items("prompts", "invalid_arguments") or []
    if channel.kind != "im":
        raise SlackError("channel_type_not_supported")
    if not 1 <= len(prompts) <= PROMPTS:
        raise SlackError("invalid_arguments", f"no more than {PROMPTS} items allowed [json-pointer:/prompts]")
    if not all(each.get("title") and each.get("message") for each in prompts):
        raise SlackError("invalid_arguments", "a prompt needs title and message [json-pointer:/prompts]")
    if not call.text("thread_ts"):
        channel.prompts = prompts
        call.space.changed()
    return {}


@method("assistant.threads.setTitle", "assistant:write", minute=100)
def set_title(call: Call) -> JSON:
    channel = call.inside("channel_id")
    call.space.message(channel, call.require("thread_ts"), "thread_not_found")
    channel.titles[call.text("thread_ts")] = call.require("title")
    return {}
