from __future__ import annotations

from engine.parsers.base import ParserLimits
from engine.parsers.sandbox.worker import parse_documents

MAILBOX = b"""From ada@example.org Tue Mar  5 10:00:00 2030
From: Ada <ada@example.org>
Subject: Kiln

The kiln is cold.
>From Monday on it is fired.

From bo@example.org Tue Mar  5 11:00:00 2030
From: Bo <bo@example.org>
Subject: Re: Kiln
Date: Tue, 5 Mar 2030 11:00:00 +0000
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: text/plain

From all of us: thanks.
--x
Content-Disposition: attachment; filename="rows.csv"

kiln,bricks
north,310
--x--
"""
PAGE = b"""From: <Saved by a browser>
Subject: The yard
MIME-Version: 1.0
Content-Type: multipart/related; boundary="b"

--b
Content-Type: text/html; charset="windows-1251"
Content-Transfer-Encoding: quoted-printable
Content-Location: https://yard.example/

<html><title>=C4=E2=EE=F0</title><p>=CA=E8=F0=EF=E8=F7 =E3=EE=F2=EE=E2.</p></html>
--b
Content-Type: text/html
Content-Location: https://yard.example/frame

<p>The frame says 310.</p>
--b
Content-Type: text/css

p {color: red}
--b--
"""


def test_each_mail_of_a_mailbox_has_its_own_passages_and_attachments() -> None:
    for name in ("all.mbox", "archive", "all.mbox.1"):
        mailbox, attached = parse_documents(name, MAILBOX, ParserLimits())
        assert {passage.label for passage in mailbox.passages} == {"e-mail 1: Kiln", "e-mail 2: Re: Kiln"}
        text = "\n".join(passage.text for passage in mailbox.passages)
        assert "\nFrom Monday on it is fired." in text
        assert "Date: Tue, 05 Mar 2030 10:00:00" in text
        assert attached.title == f"{name} › e-mail 2: Re: Kiln › rows.csv"


def test_a_saved_page_is_read_with_its_frames() -> None:
    for name in ("yard.mht", "yard.saved"):
        [page] = parse_documents(name, PAGE, ParserLimits())
        assert page.title == "Двор"
        assert [passage.text for passage in page.passages] == ["Кирпич готов.", "The frame says 310."]
        assert page.omissions == ()
