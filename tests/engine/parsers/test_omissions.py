"""What of a file was not read is named with the file itself."""

from __future__ import annotations

from email.message import EmailMessage

from engine.models import Omission
from engine.parsers.base import ParsedFile, ParserLimits
from engine.parsers.sandbox import protocol
from engine.parsers.sandbox.worker import MAX_OMISSIONS, parse_documents, parse_safely
from engine.text.cleanup import MAX_NAME_LENGTH
from tests.engine.parsers.samples import archive


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
    assert [omission.part for omission in last.omissions] == ["attachment plan.zzz"]
    assert last.omissions[0].reason
    assert not last.omissions[0].reason.endswith(".")


def test_many_parts_with_long_names_are_counted() -> None:
    files = {f"{number}-{'k' * 300}.bin": b"" for number in range(MAX_OMISSIONS + 3)} | {"a.txt": b"clay"}
    found = [each for each in parse_safely("a.zip", archive(files), ParserLimits()) if isinstance(each, ParsedFile)]
    assert len(found[-1].omissions) == MAX_OMISSIONS + 1
    assert found[-1].omissions[-1].part.endswith(" other parts")
    assert max(len(omission.part) for omission in found[-1].omissions) <= MAX_NAME_LENGTH
    assert found[-1].coverage.endswith(f"of {len(files)} files")


def test_omissions_reach_the_pool() -> None:
    *_, last = parse_documents("plans.eml", _mail("plan.zzz"), ParserLimits())
    decoded = protocol.decode_result(protocol.encode_result(last))
    assert decoded is not None
    assert decoded.omissions == last.omissions
    assert decoded.omissions == (Omission("attachment plan.zzz", last.omissions[0].reason),)
