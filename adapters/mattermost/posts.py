"""Posts of Mattermost as messages. An export has no ids of posts, so that their times identify them. Pure."""

from __future__ import annotations

import hashlib
import mimetypes
import posixpath
import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.common.export_folder import clean_upload, count_up
from adapters.common.json_fields import get_rows, get_text, join_lines
from bot.platform.models import Message, Upload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from bot.platform.models import Location

PERSON_TYPES = frozenset({"", "me", "slack_attachment"})  # the last: of integrations
NAME = r"[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}"
_MENTION = re.compile(rf"(?<![\w@./])@({NAME})")
_CHANNEL = re.compile(rf"(?<![\w~/])~({NAME})")
_TRAILING = ".-_"  # a mention at the end of a sentence


def parse_thread(post: Mapping[str, Any], place: Location, id_: str, find_file: Callable[[str], str]) -> list[Message]:
    """A post and its replies, in the order of the file. `find_file`: the file of an attachment's path.

    Raises KeyError, ValueError and TypeError.
    """
    thread = replace(place, thread=id_)
    ids: set[str] = set()
    found = [_parse_post(post, place, id_, find_file)]
    for reply in post.get("replies") or ():
        time = parse_time(reply["create_at"])
        own = count_up(f"{id_}.{time}", ids)
        found.append(_parse_post(reply, thread, own, find_file))
    return [upload for upload in found if upload is not None]


def parse_time(found: Any) -> int:
    """Milliseconds since 1970. Raises ValueError and TypeError unless they are a time."""
    datetime.fromtimestamp(int(found) / 1000, UTC)
    return int(found)


def count_notices(post: Mapping[str, Any]) -> int:
    """How many of a post and its replies are notices of the server, or deleted."""
    return sum(_is_notice(text) for text in (post, *(post.get("replies") or ())))


def to_plain_text(text: str, person_name: Callable[[str], str], channel_name: Callable[[str], str]) -> str:
    """The text with the names of people and channels; the functions return "" for unknown ones."""
    text = _MENTION.sub(lambda found: _replace(found, "@", person_name), text)
    return _CHANNEL.sub(lambda found: _replace(found, "#", channel_name), text)


def _replace(found: re.Match[str], sign: str, name_of: Callable[[str], str]) -> str:
    key = found[1].lower()
    for known in (key, key.rstrip(_TRAILING)):
        if known and (name := name_of(known)):
            return f"{sign}{name}{key[len(known) :]}"
    return found[0]


def _is_notice(post: Mapping[str, Any]) -> bool:
    return str(post.get("type") or "") not in PERSON_TYPES or bool(_props(post).get("deleteBy"))


def _parse_post(post: Mapping[str, Any], place: Location, id_: str, find_file: Callable[[str], str]) -> Message | None:
    if _is_notice(post):
        return None
    is_bot = any(str(_props(post).get(key)).lower() == "true" for key in ("from_webhook", "from_bot"))
    return Message(
        id=id_,
        location=place,
        author=str(post["user"]).lower(),
        text="\n".join(_list_texts(post)),
        time=datetime.fromtimestamp(parse_time(post["create_at"]) / 1000, UTC),
        uploads=tuple(_list_uploads(post, find_file)),
        edited=str(post.get("edit_at") or ""),
        by_bot=is_bot,
    )


def _props(post: Mapping[str, Any]) -> Mapping[str, Any]:
    found = post.get("props")
    return found if isinstance(found, dict) else {}


def _list_texts(post: Mapping[str, Any]) -> Iterator[str]:
    """The text of a post, and what an integration attached."""
    if post.get("message"):
        yield str(post["message"])
    for row in get_rows(_props(post), "attachments"):
        texts = [get_text(row, key) for key in ("pretext", "author_name", "title", "text")]
        fields = (
            ": ".join(filter(None, map(partial(get_text, field), ("title", "value"))))
            for field in get_rows(row, "fields")
        )
        yield join_lines([*texts, *fields, get_text(row, "footer")]) or get_text(row, "fallback")


def _list_uploads(post: Mapping[str, Any], find_file: Callable[[str], str]) -> Iterable[Upload]:
    paths = dict.fromkeys(str(text["path"]) for text in post.get("attachments") or () if text.get("path"))
    for path in paths:
        name = posixpath.basename(path)
        id_ = hashlib.sha256(path.encode()).hexdigest()[:32]
        yield clean_upload(Upload(id_, name, 0, mimetypes.guess_type(name)[0] or "", find_file(path)))
