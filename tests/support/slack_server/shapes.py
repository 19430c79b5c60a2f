"""Users, channels, files, messages and events in the JSON that Slack sends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON, Channel, Message, StoredFile, User
    from tests.support.slack_server.workspace import Workspace

TOKEN = re.compile(r"<([@#!]?)([^>|]+)(?:\|([^>]*))?>")


def user(space: Workspace, person: User, *, locale: bool = False) -> JSON:
    """A user of users.info, users.list and user_change. `locale`: it was asked for."""
    body: JSON = {
        "id": person.id,
        "team_id": person.team,
        "name": person.name.lower().replace(" ", "."),
        "deleted": person.deleted,
        "profile": {"real_name": person.name, "display_name": person.name, "team": person.team},
        "is_bot": bool(person.bot_id),
    }
    if person.deleted:
        return body
    return body | {
        "real_name": person.name,
        "is_admin": person.admin,
        "is_owner": False,
        **({"locale": person.locale} if locale else {}),
        "is_restricted": person.kind != "member",
        "is_ultra_restricted": person.kind == "single_channel_guest",
        **({"is_stranger": True} if person.team != space.team else {}),
    }


def channel(space: Workspace, room: Channel) -> JSON:
    """A conversation object."""
    body: JSON = {"id": room.id, "created": room.created, "is_archived": room.archived, "is_im": room.kind == "im"}
    if room.kind == "im":
        return body | {"user": room.user}
    return body | {
        "name": room.name,
        "name_normalized": room.name,
        "is_channel": room.kind in {"public", "private"},
        "is_group": room.kind == "private",
        "is_mpim": room.kind == "mpim",
        "is_private": room.kind != "public",
        "is_shared": room.shared,
        "is_ext_shared": room.shared,
        "is_org_shared": False,
        "pending_shared": [],
        "creator": room.creator,
        "is_member": space.bot.id in room.members,
    }


def file(space: Workspace, stored: StoredFile) -> JSON:
    """A file in a message; of one from another workspace only that files.info must be asked."""
    if stored.deleted:
        return {"id": stored.id, "mode": "tombstone"}
    if stored.connect:
        return {"id": stored.id, "user": stored.user, "mode": "file_access", "file_access": "check_file_info"}
    return whole_file(space, stored)


CANVAS = "application/vnd.slack-docs"
LIST = "application/vnd.slack-list"
MODES = {CANVAS: "quip", LIST: "list"}  # of files that Slack itself has written; others are hosted


def external_file(stored: StoredFile) -> JSON:
    """A file of another service, whose bytes Slack does not have."""
    return {
        "id": stored.id,
        "created": stored.created,
        "name": stored.name,
        "title": stored.title or stored.name,
        "mimetype": stored.mimetype,
        "user": stored.user,
        "size": 0,
        "mode": "external",
        "is_external": True,
        "external_type": "gdrive",
        "external_id": stored.external_url.rpartition("/")[2],
        "external_url": stored.external_url,
        "url_private": stored.external_url,
    }


def whole_file(space: Workspace, stored: StoredFile) -> JSON:
    """A file of files.info."""
    if stored.external_url:
        return external_file(stored)
    base = f"{space.base}/files-pri/{space.team}-{stored.id}"
    mode = MODES.get(stored.mimetype, "hosted")
    return {
        "id": stored.id,
        "created": stored.created,
        "name": stored.name,
        "title": stored.title or stored.name,
        "mimetype": stored.mimetype,
        "user": stored.user,
        "size": len(stored.data),
        "mode": mode,
        **({"filetype": mode} if mode != "hosted" else {}),
        "url_private": f"{base}/{stored.name}",
        "url_private_download": f"{base}/download/{stored.name}",
        "file_access": "visible",
    }


def _read_blocks(blocks: list[JSON]) -> list[JSON]:
    """Blocks as Slack returns them: Markdown became rich text, and every block has an id."""
    return [{"block_id": f"b{number}", **_read_block(block)} for number, block in enumerate(blocks)]


def _read_block(block: JSON) -> JSON:
    if block["type"] != "markdown":
        return block
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": block["text"]}]}
    return {"type": "rich_text", "elements": [section]}


def message(space: Workspace, posted: Message) -> JSON:
    """A message in histories, and in events but for their channel."""
    author, room = space.users[posted.user], space.channels[posted.channel]
    body: JSON = {"type": "message", "user": posted.user, "text": posted.text, "ts": posted.ts, "team": author.team}
    if posted.subtype:
        body["subtype"] = posted.subtype
    if author.bot_id:
        body |= {"bot_id": author.bot_id, "app_id": author.app_id}
    if posted.subtype == "bot_message":
        del body["user"]
    if posted.thread_ts:
        body["thread_ts"] = posted.thread_ts
    blocks = posted.stream.blocks if posted.stream else posted.blocks
    if blocks:
        body["blocks"] = _read_blocks(blocks)
    if posted.files:
        body["files"] = [file(space, each) for each in posted.files]
    if posted.edited:
        body["edited"] = {"user": posted.user, "ts": posted.edited}
    if posted.previews:
        body["attachments"] = posted.previews
    if posted.reactions:
        body["reactions"] = [{"name": n, "users": u, "count": len(u)} for n, u in posted.reactions.items()]
    return body | thread_counters(room, posted) | posted.extra


def thread_counters(room: Channel, root: Message) -> JSON:
    """What the root of a thread says about its replies."""
    replies = [] if root.is_reply else room.thread(root.ts)
    if not replies:
        return {}
    return {"thread_ts": root.ts, "reply_count": len(replies), "latest_reply": replies[-1].ts}


def wrap_event(space: Workspace, event: JSON, event_id: str, *, shared: bool) -> JSON:
    """An event in the wrapper of the Events API."""
    organization = space.organization or None
    authorization = {"enterprise_id": organization, "team_id": space.team, "user_id": space.bot.id, "is_bot": True}
    return {
        "type": "event_callback",
        "team_id": space.team,
        "context_team_id": space.team,
        "context_enterprise_id": organization,
        "api_app_id": space.app.id,
        "event": event,
        "event_id": event_id,
        "event_time": int(space.clock.time()),
        "authorizations": [{**authorization, "is_enterprise_install": space.is_org_install}],
        "is_ext_shared_channel": shared,
    }
