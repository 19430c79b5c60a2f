from __future__ import annotations

import zipfile
from io import BytesIO
from random import Random

import pytest

from engine.errors import BadInput, Broken
from engine.reading.archives import kind_of_archive
from engine.reading.read import Limits

ODT = "application/vnd.oasis.opendocument.text"


def zipped(packing: int) -> bytes:
    held = BytesIO()
    with zipfile.ZipFile(held, "w", packing) as archive:
        archive.writestr("mimetype", ODT)
        archive.writestr("content.xml", "x" * 100)
    return held.getvalue()


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_anywhere_in_an_archive_is_told_as_such(packing: int) -> None:
    whole, random, refused = zipped(packing), Random(packing), set[type[BadInput]]()
    assert kind_of_archive(whole, Limits()) == "odt"
    for _ in range(1000):
        damaged = bytearray(whole)
        for _ in range(random.randint(1, 6)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        try:
            kind_of_archive(bytes(damaged), Limits())
        except BadInput as error:
            refused.add(type(error))
    assert Broken in refused
