"""Sort the parts of an e-mail: what is its text, what is a file of its own, and what is not read. Pure."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass, field
from email.policy import default as default_policy
from typing import TYPE_CHECKING

from engine.parsers.base import SIGNATURE, Attachment, EmbeddedPicture, Omission
from engine.parsers.encodings.decoding import decode_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from email.message import MIMEPart

ENCRYPTED = "it is encrypted"
_PLAIN, _HTML = "text/plain", "text/html"
# Other forms of a text, beside which the plain one stands.
_FORMS = frozenset({_PLAIN, _HTML, "text/enriched", "text/richtext", "text/x-amp-html", "text/watch-html"})
_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_ENVELOPES = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_MAILS = frozenset({"message/rfc822", "message/global"})
_UNCHANGED = default_policy.clone(refold_source="none")  # headers are written as they came
_UNKNOWN = "application/octet-stream"


@dataclass(slots=True)
class MailParts:
    """The parts of an e-mail: `texts` in order, each plain or HTML, and what is beside them."""

    texts: list[tuple[str, bool]] = field(default_factory=list)  # and whether it is HTML
    attachments: list[Attachment] = field(default_factory=list)
    pictures: list[EmbeddedPicture] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)


def sort_parts(message: MIMEPart) -> MailParts:
    """Every part of a message; of several forms of a text the plain one, or that in HTML if there is none."""
    parts = MailParts()
    _add(parts, message, is_form=False)
    return parts


def _add(parts: MailParts, part: MIMEPart, *, is_form: bool) -> None:
    """Add a part with those within it. `is_form`: its text is read in another form."""
    kind = part.get_content_type()
    inner = list(part.iter_parts()) if part.is_multipart() and part.get_content_maintype() == "multipart" else []
    if kind == "multipart/encrypted":
        parts.omissions.append(Omission("the text", ENCRYPTED))
    elif kind == "multipart/alternative" and inner:
        _add_alternatives(parts, inner, is_form=is_form)
    elif inner:
        for inner_part in inner:
            _add(parts, inner_part, is_form=is_form)
    else:
        _add_leaf(parts, part, kind, is_form=is_form)


def _add_alternatives(parts: MailParts, inner: Sequence[MIMEPart], *, is_form: bool) -> None:
    chosen = None if is_form else _choose(inner)
    for inner_part in inner:
        _add(parts, inner_part, is_form=is_form or (chosen is not None and inner_part is not chosen))


def _choose(inner: Sequence[MIMEPart]) -> MIMEPart | None:
    """The form that is read: the first one that is not empty, plain before HTML before one of several parts."""
    for kind in (_PLAIN, _HTML):
        for inner_part in inner:
            if (
                inner_part.get_content_type() == kind
                and not inner_part.is_attachment()
                and part_text(inner_part).strip()
            ):
                return inner_part
    return next((inner_part for inner_part in inner if inner_part.is_multipart()), None)


def _add_leaf(parts: MailParts, part: MIMEPart, kind: str, *, is_form: bool) -> None:
    name = part.get_filename() or ""
    is_inline = not part.is_attachment()
    is_text = kind in {_PLAIN, _HTML} or kind.startswith("multipart/")  # the latter without any boundary
    if kind in _SIGNATURES:
        parts.omissions.append(Omission(f"signature {name}".strip(), SIGNATURE))
    elif kind in _ENVELOPES:
        parts.omissions.append(Omission(f"the text {name}".strip(), ENCRYPTED))
    elif is_form and is_inline and kind in _FORMS and not name:
        return
    elif is_text and is_inline and not (name and parts.texts):
        parts.texts.append((part_text(part), kind == _HTML))
    elif kind.startswith("image/") and is_inline and not name:
        parts.pictures.append(EmbeddedPicture("picture", part_bytes(part)))
    elif (data := part_bytes(part)) or name:
        parts.attachments.append(Attachment(name or _default_name(kind, len(parts.attachments) + 1), data))


def part_text(part: MIMEPart) -> str:
    """The text of a part, whatever it says of its encoding."""
    try:
        return str(part.get_content())
    except (LookupError, ValueError, AttributeError):  # an unknown or wrong charset
        return decode_text(part_bytes(part))


def part_bytes(part: MIMEPart) -> bytes:
    """The decoded bytes of a part; those of the messages within it."""
    if part.get_content_maintype() == "message" and part.is_multipart():
        return b"\n".join(inner_part.as_bytes(policy=_UNCHANGED) for inner_part in part.iter_parts())
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _default_name(kind: str, number: int) -> str:
    if kind in _MAILS:
        return f"attachment {number}.eml"
    if kind.startswith(("text/", "message/")):
        return f"attachment {number}{mimetypes.guess_extension(kind) or '.txt'}"
    return f"attachment {number}{'' if kind == _UNKNOWN else mimetypes.guess_extension(kind) or ''}"
