"""Which files are of a family in which people rarely write."""

from __future__ import annotations

import pytest

from bot.ingest.shared_file import OTHER, find_failed_family, find_family
from bot.platform.models import Upload
from engine.errors import CorruptFile, EmptyPicture, NoTextFormat


def upload(name: str, kind: str = "", size: int = 100) -> Upload:
    return Upload("F1", name, size, kind, "")


@pytest.mark.parametrize(
    ("name", "kind", "family"),
    [
        ("party.gif", "image/gif", "picture"),
        ("IMG_0231.HEIC", "", "picture"),
        ("audio_message.m4a", "audio/mp4", "sound"),
        ("voice-message", "audio/ogg", "sound"),
        ("Recording.mov", "application/octet-stream", "film"),
        ("Inter.woff2", "", "font"),
        ("setup.exe", "application/x-msdownload", "program"),
        ("build.apk", "", "program"),
        ("queue.ts", "video/mp2t", ""),
        ("logo.svg", "image/svg+xml", ""),
        ("plan.pdf", "application/pdf", ""),
        ("notes", "", ""),
    ],
)
def test_the_family_of_a_file_follows_from_its_name_and_kind(name: str, kind: str, family: str) -> None:
    assert find_family(upload(name, kind)) == family


def test_a_large_file_that_is_announced_as_film_is_film_whatever_its_name() -> None:
    assert find_family(upload("broadcast.ts", "video/mp2t", size=2**27)) == "film"


def test_a_failure_says_the_family_of_a_file_whose_name_does_not() -> None:
    assert find_failed_family(upload("scene.blend"), NoTextFormat("It cannot be read.")) == OTHER
    assert find_failed_family(upload("scan"), EmptyPicture("I can't look at pictures.")) == "picture"
    assert find_failed_family(upload("logo.svg", "image/svg+xml"), CorruptFile("It is damaged.")) == "picture"
    assert find_failed_family(upload("plan.pdf", "application/pdf"), CorruptFile("It is damaged.")) == ""
