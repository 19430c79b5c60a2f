"""reactions.add and reactions.remove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.slack_server.call import Call, method
from tests.support.slack_server.refusals import SlackError

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON, Channel, Message

# Enough of Slack's emoji to catch a name that is none; App.emoji adds others.
NAMES = """
    +1 -1 thumbsup thumbsdown eyes hourglass hourglass_flowing_sand white_check_mark heavy_check_mark
    ballot_box_with_check warning x no_entry no_entry_sign stop_sign question grey_question exclamation bulb memo
    books book bookmark mag mag_right inbox_tray outbox_tray floppy_disk file_folder open_file_folder
    page_facing_up paperclip link robot_face brain speech_balloon thought_balloon thinking_face wave pray tada
    rocket fire heart star sparkles zzz clock1 timer_clock stopwatch repeat arrows_counterclockwise rotating_light
    lock unlock key wastebasket no_bell bell mute speaker rage confused cry sob joy smile slightly_smiling_face
    heavy_multiplication_x red_circle large_green_circle large_yellow_circle
"""
EMOJI = frozenset(NAMES.split())


def _item(call: Call) -> tuple[Channel, Message, str]:
    name = call.require("name").strip(":")
    if name not in EMOJI | call.space.app.emoji:
        raise SlackError("invalid_name")
    if not call.text("channel") or not call.text("timestamp"):
        raise SlackError("no_item_specified")
    channel = call.inside()
    return channel, call.space.message(channel, call.text("timestamp")), name


@method("reactions.add", "reactions:write", minute=50)
def add(call: Call) -> JSON:
    channel, message, name = _item(call)
    if call.space.bot.id in message.reactions.get(name, []):
        raise SlackError("already_reacted")
    call.slack.actions.react(channel, message, call.space.bot.id, name)
    return {}


@method("reactions.remove", "reactions:write", minute=20)
def remove(call: Call) -> JSON:
    channel, message, name = _item(call)
    if call.space.bot.id not in message.reactions.get(name, []):
        raise SlackError("no_reaction")
    call.slack.actions.unreact(channel, message, call.space.bot.id, name)
    return {}
