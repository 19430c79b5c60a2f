"""Users, channels, files and messages as they look on the wire."""

from __future__ import annotations

import re
from hashlib import sha1
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON, Channel, Message, StoredFile, User
    from tests.support.slack_server.workspace import Workspace

TOKEN = re.compile(r"<([@#!]?)([^>|]+)(?:\|([^>]*))?>")


def user(space: Workspace, person: User) -> JSON:
    """What users.info and user_change say of somebody."""
    profile: JSON = {"real_name": person.name, "display_name": person.name, "team": person.team}
    if person.bot_id:
        profile |= {"bot_id": person.bot_id, "api_app_id": person.app_id}
    body: JSON = {
        "id": person.id,
        "team_id": person.team,
        "name": person.name.lower().replace(" ", "."),
        "deleted": person.deleted,
        "profile": profile,
        "is_bot": bool(person.bot_id),
        "is_app_user": False,
        "updated": 1_700_000_000,
    }
    if person.deleted:
        return body
    body |= {"real_name": person.name, "color": "9f69e7", "tz": "Etc/UTC", "tz_label": "UTC", "tz_offset": 0}
    body |= {"is_admin": person.admin, "is_owner": False, "is_primary_owner": False}
    body |= {"is_restricted": person.kind != "member", "is_ultra_restricted": person.kind == "single_channel_guest"}
    if person.team != space.team:
        body["is_stranger"] = True
    return body


def channel(space: Workspace, room: Channel) -> JSON:
    """A conversation object."""
    body: JSON = {
        "id": room.id,
        "created": room.created,
        "is_archived": room.archived,
        "is_im": room.kind == "im",
        "is_org_shared": False,
        "context_team_id": space.team,
        "updated": room.created * 1000,
    }
    if room.kind == "im":
        gone = room.user in space.users and space.users[room.user].deleted
        return body | {"user": room.user, "is_user_deleted": gone, "priority": 0}
    teams = [space.team, *sorted({space.users[each].team for each in room.members} - {space.team})]
    return body | {
        "name": room.name,
        "name_normalized": room.name,
        "is_channel": room.kind in {"public", "private"} and room.id.startswith("C"),
        "is_group": room.kind == "private",
        "is_mpim": room.kind == "mpim",
        "is_private": room.kind != "public",
        "is_general": room.general,
        "unlinked": 0,
        "is_shared": room.shared,
        "is_ext_shared": room.shared,
        "is_pending_ext_shared": False,
        "pending_shared": [],
        "pending_connected_team_ids": [],
        "parent_conversation": None,
        "creator": room.creator,
        "shared_team_ids": teams if room.shared else [space.team],
        "is_member": space.bot.id in room.members,
        "topic": {"value": "", "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "previous_names": [],
    }


def file(space: Workspace, attached: StoredFile) -> JSON:
    """A file object; one from another workspace says only that it must be asked for."""
    if attached.deleted:
        return {"id": attached.id, "mode": "tombstone"}
    if attached.connect:
        return {"id": attached.id, "created": attached.created, "user": attached.user, "mode": "file_access",
                "file_access": "check_file_info"}  # fmt: skip
    return whole_file(space, attached)


def whole_file(space: Workspace, attached: StoredFile) -> JSON:
    """All that files.info tells."""
    base = f"{space.base}/files-pri/{space.team}-{attached.id}"
    ending = attached.name.rpartition(".")[2].lower() if "." in attached.name else "binary"
    private = attached.url or f"{base}/{attached.name}"
    channels = list(dict.fromkeys(place for place, _ in attached.places))
    return {
        "id": attached.id,
        "created": attached.created,
        "timestamp": attached.created,
        "name": attached.name,
        "title": attached.title or attached.name,
        "mimetype": attached.mimetype,
        "filetype": ending,
        "pretty_type": ending.upper(),
        "user": attached.user,
        "user_team": space.users[attached.user].team,
        "editable": False,
        "size": len(attached.data),
        "mode": "external" if attached.url else "hosted",
        "is_external": bool(attached.url),
        "external_type": "unknown" if attached.url else "",
        "is_public": any(space.channels[place].kind == "public" for place in channels),
        "public_url_shared": False,
        "display_as_bot": False,
        "username": "",
        "url_private": private,
        "url_private_download": attached.url or f"{base}/download/{attached.name}",
        "permalink": f"https://{space.domain}.slack.com/files/{attached.user}/{attached.id}/{attached.name}",
        "channels": [place for place in channels if space.channels[place].kind == "public"],
        "groups": [place for place in channels if space.channels[place].kind in {"private", "mpim"}],
        "ims": [place for place in channels if space.channels[place].kind == "im"],
        "file_access": "visible",
        "has_rich_preview": False,
    }


def rich_text(text: str) -> JSON:
    """The blocks of what a person typed."""
    elements: list[JSON] = []
    last = 0
    for found in TOKEN.finditer(text):
        elements += _plain(text[last : found.start()])
        last = found.end()
        sign, value, label = found.groups()
        shapes: dict[str, JSON] = {
            "@": {"type": "user", "user_id": value},
            "#": {"type": "channel", "channel_id": value},
            "!": {"type": "broadcast", "range": value},
            "": {"type": "link", "url": value, **({"text": label} if label else {})},
        }
        elements.append(shapes[sign])
    elements += _plain(text[last:])
    return rich_text_block(text, elements)


def _plain(text: str) -> list[JSON]:
    shown = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return [{"type": "text", "text": shown}] if text else []


def rich_text_block(text: str, elements: list[JSON]) -> JSON:
    """A rich_text block, which is what Slack makes of typed text and of Markdown."""
    name = sha1(text.encode(), usedforsecurity=False).hexdigest()[:5]
    return {"type": "rich_text", "block_id": name, "elements": [{"type": "rich_text_section", "elements": elements}]}


def blocks(given: list[JSON]) -> list[JSON]:
    """Blocks as they are read back: Markdown has become rich text, and every block has an id."""
    made = []
    for number, block in enumerate(given):
        if block["type"] == "markdown":
            made.append(rich_text_block(block["text"], [{"type": "text", "text": block["text"]}]))
        else:
            made.append({"block_id": f"b{number}", **block})
    return made


def message(space: Workspace, said: Message) -> JSON:
    """A message as histories have it, and events but for their channel."""
    author = space.users[said.user]
    body: JSON = {"type": "message", "user": said.user, "text": said.text, "ts": said.ts, "team": author.team}
    if said.subtype:
        body["subtype"] = said.subtype
    if author.bot_id:
        body |= {"bot_id": author.bot_id, "app_id": author.app_id, "bot_profile": bot_profile(space, author)}
    elif not said.subtype:
        body["client_msg_id"] = f"00000000-0000-4000-8000-{said.ts.replace('.', '')[-12:]}"
    if said.subtype == "bot_message":
        del body["user"]
    if said.thread_ts:
        body["thread_ts"] = said.thread_ts
        if said.is_reply and said.thread_ts in space.channels[said.channel].messages:
            body["parent_user_id"] = space.channels[said.channel].messages[said.thread_ts].user
    body |= _content(space, said) | _counters(space, said) | said.extra
    return body


def _content(space: Workspace, said: Message) -> JSON:
    body: JSON = {}
    given = said.blocks if said.blocks is not None else []
    if said.stream is not None:
        given = said.stream.blocks
        body["streaming_state"] = "in_progress" if said.stream.state == "in_progress" else "completed"
    if given:
        body["blocks"] = blocks(given)
    elif not space.users[said.user].bot_id and said.text and said.subtype in {"", "file_share", "thread_broadcast"}:
        body["blocks"] = [rich_text(said.text)]
    if said.files:
        body |= {"files": [file(space, each) for each in said.files], "upload": True, "display_as_bot": False}
    if said.edited:
        body["edited"] = {"user": said.user, "ts": said.edited}
    if said.previews:
        body["attachments"] = said.previews
    if said.reactions:
        body["reactions"] = [{"name": n, "users": u, "count": len(u)} for n, u in said.reactions.items()]
    return body


def _counters(space: Workspace, said: Message) -> JSON:
    replies = [] if said.is_reply else space.channels[said.channel].thread(said.ts)
    if not replies:
        return {}
    people = list(dict.fromkeys(reply.user for reply in replies))
    return {
        "thread_ts": said.ts,
        "reply_count": len(replies),
        "reply_users_count": len(people),
        "latest_reply": replies[-1].ts,
        "reply_users": people[:5],
        "is_locked": False,
        "subscribed": False,
    }


def bot_profile(space: Workspace, bot: User) -> JSON:
    return {"id": bot.bot_id, "app_id": bot.app_id, "name": bot.name, "deleted": False, "team_id": space.team}


def wrap_event(space: Workspace, event: JSON, event_id: str, *, shared: bool) -> JSON:
    """An event in the wrapper of the Events API."""
    authorization: dict[str, Any] = {"enterprise_id": None, "team_id": space.team, "user_id": space.bot.id}
    return {
        "token": "verification-token",
        "team_id": space.team,
        "context_team_id": space.team,
        "context_enterprise_id": None,
        "api_app_id": space.app.id,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": int(space.clock.now()),
        "authorizations": [authorization | {"is_bot": True, "is_enterprise_install": False}],
        "is_ext_shared_channel": shared,
        "event_context": f"4-{event_id}",
    }
