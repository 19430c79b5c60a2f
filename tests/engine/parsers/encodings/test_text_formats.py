from __future__ import annotations

import pytest

from engine.parsers.base import ParserLimits
from engine.parsers.detection import detect_format


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("app.vue", b"<template><p>Kiln</p></template>", "code"),
        ("kiln.dart", b"void main() {}", "code"),
        ("server.log.1", b"cold", "plain"),
        ("server.log.2031-03-04", b"cold", "plain"),
        ("config.yaml.example", b"kiln: cold", "yaml"),
        ("settings.json.bak", b"{}", "json"),
        ("LICENSE", b"Anybody may", "plain"),
        ("kiln.xyz", "Печь".encode("cp1251"), "plain"),
        ("wide.xyz", "The kiln is cold.".encode("utf-16-le"), "plain"),
        ("feed", b'<?xml version="1.0"?><rss/>', "xml"),
        ("news.rss", b"<rss/>", "xml"),
        ("people", b"BEGIN:VCARD\nFN:Ada\nEND:VCARD", "contacts"),
        ("year", b"BEGIN:VCALENDAR\nEND:VCALENDAR", "calendar"),
        ("events.dat", b'{"kiln": 1}\n{"kiln": 2}\n', "messages"),
        ("state.dat", b'{\n "kiln": 1\n}\n', "json"),
        ("letter", b"From: a@example.org\nSubject: Kiln\nDate: today\n\nCold.", "eml"),
        ("note.txt", b"From: here on, all is cold.\nMore.", "plain"),
    ],
)
def test_text_is_text_whatever_its_name(name: str, data: bytes, kind: str) -> None:
    assert detect_format(name, data, ParserLimits()) == kind
