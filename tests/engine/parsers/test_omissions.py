"""What of a file was not read is named with the file itself."""

from __future__ import annotations

from email.message import EmailMessage

from engine.models import Omission
from engine.parsers.base import ParserLimits
from engine.parsers.sandbox import protocol
from engine.parsers.sandbox.worker import parse_documents


def _mail(*names: str) -> bytes:
    message = EmailMessage()
    message["Subject"] = "Plans of the boathouse"
    message.set_content("The plans are attached.")
    for name in names:
        message.add_attachment(b"\x00\x01 no text", maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


def test_an_attachment_that_cannot_be_read_is_named_with_its_mail() -> None:
    *_, last = parse_documents("plans.eml", _mail("plan.zzz"), ParserLimits())
    assert last.key == ""
    assert [each.part for each in last.omissions] == ["attachment plan.zzz"]
    assert last.omissions[0].reason
    assert not last.omissions[0].reason.endswith(".")


def test_omissions_reach_the_pool() -> None:
    *_, last = parse_documents("plans.eml", _mail("plan.zzz"), ParserLimits())
    decoded = protocol.decode_result(protocol.encode_result(last))
    assert decoded is not None
    assert decoded.omissions == last.omissions
    assert decoded.omissions == (Omission("attachment plan.zzz", last.omissions[0].reason),)
