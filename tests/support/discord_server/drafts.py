"""What a client wants to say, checked against the platform's limits before anything happens."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tests.support.discord_server.component_rules import check_components
from tests.support.discord_server.embed_rules import check_embeds
from tests.support.discord_server.errors import ApiError, invalid_form, too_long
from tests.support.discord_server.model import File, Json, MessageFlag

MOST_CONTENT = 2000
MOST_FILES = 10
MOST_FILE = 10 * 1024 * 1024
MOST_NONCE = 25
ALLOWED_FLAGS = MessageFlag.SUPPRESS_EMBEDS | MessageFlag.SUPPRESS_NOTIFICATIONS | MessageFlag.COMPONENTS_V2


@dataclass(slots=True)
class Draft:
    """A message body. Fields that the client did not send are None; `kept` are the attachments it keeps in an edit."""

    content: str | None = None
    embeds: list[Json] | None = None
    components: list[Json] | None = None
    flags: MessageFlag = MessageFlag.NONE
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


def parse_draft(body: Json, files: dict[int, File], *, flags: MessageFlag = MessageFlag.NONE) -> Draft:
    """Check a body as far as that needs no knowledge of the channel; `flags` are those the place allows besides."""
    wanted = MessageFlag(body.get("flags") or 0) & (ALLOWED_FLAGS | flags)
    layout = MessageFlag.COMPONENTS_V2 in wanted
    if layout and (body.get("content") or body.get("embeds")):
        path = "content" if body.get("content") else "embeds"
        raise invalid_form(
            path, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", f"The '{path}' field cannot be used with …"
        )
    draft = Draft(
        flags=wanted, flags_given="flags" in body, allowed=check_allowed_mentions(body.get("allowed_mentions"))
    )
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
    _resolve_files(draft, body.get("attachments"), files)
    return draft


def check_content(content: Any) -> str:
    if content is None:
        return ""
    if not isinstance(content, str | int | float):
        raise invalid_form("content", "STRING_TYPE_CONVERT", "Could not interpret value as string.")
    trimmed = str(content).strip()
    if len(trimmed) > MOST_CONTENT:
        raise too_long("content", MOST_CONTENT)
    return trimmed


def _resolve_files(draft: Draft, attachments: Any, files: dict[int, File]) -> None:
    if len(files) > MOST_FILES:
        raise invalid_form("attachments", "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_FILES} or fewer in length.")
    if any(len(file.data) > MOST_FILE for file in files.values()):
        raise ApiError(40005)
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
            raise invalid_form(
                f"attachments.{position}.id", "ATTACHMENT_NOT_FOUND", f"Attachment data {known} not found"
            )


def check_allowed_mentions(allowed: Any) -> Json | None:
    """Who may be pinged, as the client says it; None if it says nothing."""
    if allowed is None:
        return None
    parse = allowed.get("parse") or []
    if any(kind not in {"users", "roles", "everyone"} for kind in parse):
        raise invalid_form(
            "allowed_mentions.parse", "BASE_TYPE_CHOICES", "Value must be one of {'users', 'roles', 'everyone'}."
        )
    for kind in ("users", "roles"):
        ids = allowed.get(kind) or []
        if kind in parse and ids:
            raise invalid_form(
                "allowed_mentions",
                "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
                f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.',
            )
        if len(ids) > 100:
            raise too_long(f"allowed_mentions.{kind}", 100)
    return dict(allowed)
