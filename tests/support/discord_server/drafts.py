"""What a client wants to say, checked against the platform's limits before anything happens."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tests.support.discord_server.component_rules import check_components
from tests.support.discord_server.embed_rules import check_embeds
from tests.support.discord_server.errors import Refused, invalid, too_long
from tests.support.discord_server.model import File, Flag, Json

MOST_CONTENT = 2000
MOST_FILES = 10
MOST_FILE = 10 * 1024 * 1024
MOST_NONCE = 25
ALLOWED_FLAGS = Flag.SUPPRESS_EMBEDS | Flag.SUPPRESS_NOTIFICATIONS | Flag.COMPONENTS_V2


@dataclass(slots=True)
class Draft:
    """A message body. Fields that the client did not send are None; `kept` are the attachments it keeps in an edit."""

    content: str | None = None
    embeds: list[Json] | None = None
    components: list[Json] | None = None
    flags: Flag = Flag.NONE
    flags_given: bool = False
    files: list[File] = field(default_factory=list)
    kept: list[str] | None = None
    reference: Json | None = None
    nonce: str = ""
    enforce_nonce: bool = False
    allowed: Json | None = None

    @property
    def empty(self) -> bool:
        return not (self.content or self.embeds or self.components or self.files or self.kept)


def draft_of(body: Json, files: dict[int, File], *, flags: Flag = Flag.NONE) -> Draft:
    """Check a body as far as that needs no knowledge of the channel; `flags` are those the place allows besides."""
    wanted = Flag(body.get("flags") or 0) & (ALLOWED_FLAGS | flags)
    layout = Flag.COMPONENTS_V2 in wanted
    if layout and (body.get("content") or body.get("embeds")):
        path = "content" if body.get("content") else "embeds"
        raise invalid(
            path, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", f"The '{path}' field cannot be used with …"
        )
    draft = Draft(flags=wanted, flags_given="flags" in body, allowed=check_allowed(body.get("allowed_mentions")))
    if "content" in body:
        draft.content = check_content(body["content"])
    if "embeds" in body:
        draft.embeds = check_embeds(body["embeds"] or [])
    if "components" in body:
        draft.components = check_components(body["components"] or [], layout=layout)
    draft.nonce = str(body.get("nonce") or "")
    if len(draft.nonce) > MOST_NONCE:
        raise too_long("nonce", MOST_NONCE)
    draft.enforce_nonce = bool(body.get("enforce_nonce"))
    draft.reference = body.get("message_reference")
    _take_files(draft, body.get("attachments"), files)
    return draft


def check_content(content: Any) -> str:
    if content is None:
        return ""
    if not isinstance(content, str | int | float):
        raise invalid("content", "STRING_TYPE_CONVERT", "Could not interpret value as string.")
    trimmed = str(content).strip()
    if len(trimmed) > MOST_CONTENT:
        raise too_long("content", MOST_CONTENT)
    return trimmed


def _take_files(draft: Draft, attachments: Any, files: dict[int, File]) -> None:
    if len(files) > MOST_FILES:
        raise invalid("attachments", "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_FILES} or fewer in length.")
    if any(len(file.data) > MOST_FILE for file in files.values()):
        raise Refused(40005)
    if attachments is None:
        draft.files = [files[index] for index in sorted(files)]
        return
    draft.kept = []
    for position, entry in enumerate(attachments):
        known = str(entry.get("id", ""))
        if known.isdigit() and int(known) in files:
            file = files[int(known)]
            name = entry.get("filename") or file.name
            draft.files.append(File(name, file.data, file.kind, entry.get("description") or ""))
        elif re.fullmatch(r"\d{15,}", known):
            draft.kept.append(known)
        else:
            raise invalid(f"attachments.{position}.id", "ATTACHMENT_NOT_FOUND", f"Attachment data {known} not found")


def check_allowed(allowed: Any) -> Json | None:
    """Who may be pinged, as the client says it; None if it says nothing."""
    if allowed is None:
        return None
    parse = allowed.get("parse") or []
    if any(kind not in {"users", "roles", "everyone"} for kind in parse):
        raise invalid(
            "allowed_mentions.parse", "BASE_TYPE_CHOICES", "Value must be one of {'users', 'roles', 'everyone'}."
        )
    for kind in ("users", "roles"):
        ids = allowed.get(kind) or []
        if kind in parse and ids:
            raise invalid(
                "allowed_mentions",
                "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
                f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.',
            )
        if len(ids) > 100:
            raise too_long(f"allowed_mentions.{kind}", 100)
    return dict(allowed)
