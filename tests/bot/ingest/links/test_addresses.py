"""Only public web addresses are fetched."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from bot.errors import PageNotRead
from bot.ingest.links.addresses import find_urls, is_public, parse_url

PRIVATE = (
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
    *("192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"),
)
private_ipv4 = st.sampled_from([IPv4Network(text) for text in PRIVATE]).flatmap(
    lambda network: st.integers(int(network[0]), int(network[-1])).map(IPv4Address)
)


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "2606:2800:220:1:248:1893:25c8:1946"])
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "::",
            "::1",
            "fe80::1",
            "fe80::1%eth0",
            "fc00::1",
            "fd12::1",
            "fec0::1",
            "ff02::1",
            "100::1",
            "64:ff9b::a9fe:a9fe",
        ),
        *("2001::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1", "::ffff:93.184.216.34", "::7f00:1", "5f00::1"),
        *("", "town.example", "127.1", "0x7f.0.0.1", "2130706433", "01.1.1.1", "1.1.1.1 "),
    ],
)
def test_other_addresses(address: str) -> None:
    assert not is_public(address)


@given(private_ipv4)
def test_no_private_address_is_public_in_any_form(address: IPv4Address) -> None:
    number = int(address)
    forms = (number | 0xFFFF << 32, number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80)
    assert not any(map(is_public, [str(address), *(str(IPv6Address(form)) for form in forms)]))


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://town.example/", "file:///etc/passwd", "javascript:alert(1)", "//town.example", "town.example"),
        *("http://ada:secret@town.example/", "http://ada@town.example/", "http://town.example\\@evil.example/"),
        *(
            "http://town.example:22/",
            "http://town.example:6379/",
            "http://town.example:99999/",
            "http://town.example:x/",
        ),
        *("http://localhost/", "http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://127.1/"),
        *("http://0177.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://169.254.169.254/latest/"),
        *("http://93.184.216.34/", "http://town..example/", "http://.example/", "http://-a.example/", "http:///x"),
        *(
            "http://town.example/a b",
            "http://town.example/\n",
            "http://town.example/" + "a" * 3000,
            "http://①②⑦.0.0.1/",
        ),
    ],
)
def test_an_address_that_is_not_fetched(url: str) -> None:
    with pytest.raises(PageNotRead):
        parse_url(url)


def test_an_address_that_may_be_fetched() -> None:
    assert parse_url("HTTPS://Town.Example./a?b#c") == ("https", "town.example", 443)
    assert parse_url("http://xn--mnchen-3ya.example:80/@ada").origin == "http://xn--mnchen-3ya.example:80"
    assert parse_url("https://münchen.example").host == "xn--mnchen-3ya.example"


_HOSTS = st.text(alphabet="a1.-:@[]/\\%?#_0xF①。 \t", max_size=20)


@given(st.builds("{}://{}".format, st.sampled_from(["http", "https", "ftp"]), _HOSTS))
def test_an_address_that_passes_names_a_host_with_a_top_level_domain(url: str) -> None:
    try:
        parsed = parse_url(url)
    except PageNotRead:
        return
    assert not is_public(parsed.host)
    assert not parsed.host.replace(".", "").isdigit()
    assert URL(f"{parsed.origin}/").raw_host == parsed.host


def test_addresses_are_found_in_a_sentence() -> None:
    text = (
        "See https://town.example/a, (https://town.example/b_(c)), <https://town.example/d|the page> and again "
        "https://town.example/a#part! HTTP://Other.example: that is all, not ftp://x.example or a://b."
    )
    assert find_urls(text, 9) == (
        "https://town.example/a",
        "https://town.example/b_(c)",
        "https://town.example/d",
        "HTTP://Other.example",
    )
    assert len(find_urls(text, 2)) == 2
