"""Sitemaps are read as sites write them, within limits, and nothing that they declare is expanded."""

from __future__ import annotations

import gzip

import pytest

from adapters.sources.sitemap import MAX_SIZE, find_sitemaps, parse_sitemap
from bot.errors import PageNotRead

NAMES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
)
PAGES = f"""<?xml version="1.0" encoding="UTF-8"?>
<!-- <url><loc>https://town.example/never</loc></url> -->
<urlset {NAMES}>
  <url>
    <loc> https://town.example/?a=1&amp;b=2 </loc><lastmod>2026-05-01</lastmod>
    <image:image><image:loc>https://town.example/quay.png</image:loc></image:image>
  </url>
  <url><priority>0.5</priority><loc><![CDATA[https://town.example/ferry]]></loc></url>
  <url><lastmod>2026-05-01</lastmod></url>
</urlset>"""
INDEX = f"""<sitemapindex {NAMES}><sitemap><loc>https://town.example/a.xml.gz</loc></sitemap>
<sitemap><loc>https://town.example/b.xml</loc><lastmod>2026-05-01</lastmod></sitemap></sitemapindex>"""


def test_pages_have_addresses_and_times() -> None:
    assert parse_sitemap(PAGES.encode()).pages == {
        "https://town.example/?a=1&b=2": "2026-05-01",
        "https://town.example/ferry": "",
    }


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_other_encodings_and_compression_are_read(encoding: str) -> None:
    text = PAGES.replace("UTF-8", "utf-16" if encoding == "utf-16" else "UTF-8")
    assert len(parse_sitemap(gzip.compress(text.encode(encoding))).pages) == 2


def test_names_may_have_a_prefix() -> None:
    text = INDEX.replace("<sitemap", "<s:sitemap").replace("</sitemap", "</s:sitemap").replace("xmlns=", "xmlns:s=")
    text = text.replace("<loc>", "<s:loc>").replace("</loc>", "</s:loc>")
    assert parse_sitemap(text.encode()).sitemaps == ("https://town.example/a.xml.gz", "https://town.example/b.xml")


def test_a_list_of_lines_is_a_sitemap() -> None:
    assert list(parse_sitemap(b"https://town.example/a\r\n\nnonsense\nhttps://town.example/b\n").pages) == [
        "https://town.example/a",
        "https://town.example/b",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<html><body>Not found</body></html>",
        PAGES[:-20],
        '<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>&a;</loc></url></urlset>',
        '<!DOCTYPE x SYSTEM "file:///etc/passwd"><urlset></urlset>',
    ],
)
def test_what_is_no_sitemap_is_refused(text: str) -> None:
    with pytest.raises(PageNotRead):
        parse_sitemap(text.encode())


@pytest.mark.long
def test_what_unpacks_to_too_much_is_refused() -> None:
    with pytest.raises(PageNotRead, match="too large"):
        parse_sitemap(gzip.compress(b" " * (MAX_SIZE + 1)))
    with pytest.raises(PageNotRead, match="damaged"):
        parse_sitemap(b"\x1f\x8b nonsense")


def test_robots_name_sitemaps() -> None:
    robots = "User-agent: *\nDisallow: /x\nSITEMAP:  https://town.example/a.xml \nSitemap: /b.xml\nSitemap: /b.xml\n"
    assert find_sitemaps(robots) == ("https://town.example/a.xml", "/b.xml")
