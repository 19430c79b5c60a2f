from __future__ import annotations

from engine.models import Omission
from engine.parsers.personal.contacts import parse

CARDS = """BEGIN:VCARD
VERSION:2.1
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=C3=96berg;Ada
TEL;CELL;VOICE:+47 123
item1.EMAIL;TYPE=WORK:ada@example.org
item1.X-ABLabel:_$!<Assistant>!$_
ADR;TYPE=HOME:;;1 Kiln Road\\, 2;Town;;123;Norway
ORG:Brickyard;Kilns
TITLE:Burner
BDAY:1980-05-06
PHOTO;ENCODING=b;TYPE=JPEG:AAAA
NOTE;ENCODING=QUOTED-PRINTABLE:First line=0D=0Asecond=
 line
END:VCARD
BEGIN:VCARD
VERSION:4.0
FN:Bo Lind
TEL;VALUE=uri;TYPE="voice,home":tel:+1-555
X-SOCIALPROFILE;TYPE=chat:https://chat.example/bo
END:VCARD
"""


def test_each_contact_is_a_person_with_all_that_is_stated() -> None:
    parsed = parse("team.vcf", CARDS.encode())
    ada, bo = parsed.passages
    assert ada.label == "Ada Öberg"
    assert ada.text.split("\n") == [
        "Ada Öberg is Burner at Brickyard, Kilns.",
        "Telephone (cell): +47 123",
        "E-mail (Assistant): ada@example.org",
        "Address (home): 1 Kiln Road, 2, Town, 123, Norway",
        "Birthday: Tuesday, 6 May 1980",
        "Note: First line",
        "secondline",
    ]
    assert bo.text.split("\n") == ["Bo Lind.", "Telephone (home): +1-555", "Profile (chat): https://chat.example/bo"]
    assert parsed.omissions == (Omission("photo of Ada Öberg", "a photo holds no text"),)


def test_a_single_contact_gives_the_title() -> None:
    assert parse("a.vcf", b"BEGIN:VCARD\nFN:Bo Lind\nEMAIL:bo@example.org\nEND:VCARD\n").title == "Bo Lind"
