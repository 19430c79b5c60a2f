"""Which host a request names, whether it came through a proxy, and whose it is."""

from __future__ import annotations

import pytest

from bot.errors import BadSetting
from bot.listeners.admission import (
    Host,
    TrustedProxies,
    is_proxied,
    parse_host,
    parse_origin,
    parse_proxies,
    to_share_key,
)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("localhost", Host("localhost")),
        ("LOCALHOST:8630", Host("localhost", 8630)),
        ("127.0.0.1:80", Host("127.0.0.1", 80)),
        ("[::1]:8630", Host("::1", 8630)),
        ("lore_1.example.org", Host("lore_1.example.org")),
    ],
)
def test_a_host_is_a_name_and_perhaps_a_port(text: str, host: Host) -> None:
    assert parse_host(text) == host
    assert parse_origin(f"https://{text}") == host


@pytest.mark.parametrize(
    "text",
    [
        *("", "localhost/x", "localhost?x", "localhost#x", "evil@localhost", "user:secret@localhost", "localhost\\x"),
        *("local host", "localhost:", "localhost:99999", "localhost:+80", "localhost:8_0", "localhost:٣", "ⓛocalhost"),
        *("[::1", "[::1]x", "localhost:80:90", "localhost,evil", "localhost:" + "1" * 5000),
    ],
)
def test_what_is_no_host_names_none(text: str) -> None:
    assert parse_host(text) is None
    assert parse_origin(f"http://{text}") is None


@pytest.mark.parametrize("text", ["null", "localhost", "file:///x", "http:localhost", ""])
def test_what_is_no_origin_names_none(text: str) -> None:
    assert parse_origin(text) is None


@pytest.mark.parametrize(
    ("text", "is_loopback"),
    [
        ("localhost", True),
        ("127.8.0.1", True),
        ("[::1]", True),
        ("[::ffff:127.0.0.1]", True),
        ("localhost.", False),
        ("127.0.0.1.", False),
        ("0x7f.1", False),
        ("127.1", False),
        ("localhost.evil.example", False),
        ("10.0.0.1", False),
    ],
)
def test_only_names_that_no_site_can_have_are_this_machine(text: str, *, is_loopback: bool) -> None:
    found = parse_host(text)
    assert found is not None
    assert found.is_loopback is is_loopback


@pytest.mark.parametrize(
    "header",
    [
        *("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-server"),
        *("x-forwarded-port", "x-forwarded", "x-real-ip", "cf-connecting-ip", "cf-ray", "true-client-ip", "cdn-loop"),
        *("x-original-host", "x-original-url", "x-original-forwarded-for", "x-client-ip", "x-envoy-external-address"),
        *("x-amzn-trace-id", "fastly-client-ip", "tailscale-user-login", "x-azure-clientip", "x-rewrite-url"),
    ],
)
def test_what_proxies_add_shows_a_proxy(header: str) -> None:
    assert is_proxied(["host", header])


def test_a_plain_request_shows_no_proxy_but_one_of_http_1_0_does() -> None:
    browser = ["host", "accept", "user-agent", "origin", "referer", "cookie", "sec-fetch-site", "x-requested-with"]
    assert not is_proxied([*browser, "hx-request", "priority", "upgrade-insecure-requests", "dnt"])
    assert is_proxied(browser, "1.0")


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("172.18.0.5", "10.9.9.9, 203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "6.6.6.6, 203.0.113.9, 172.18.0.5", "203.0.113.9"),
        ("127.0.0.1", "6.6.6.6, unknown, 172.18.0.5", "172.18.0.5"),
        ("::1", "2001:db8::1", "2001:db8::1"),
        ("::ffff:127.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.7", "203.0.113.9", "10.0.0.7"),
        ("8.8.8.8", "203.0.113.9", "8.8.8.8"),
        ("127.0.0.1", "unknown", "127.0.0.1"),
        ("", "203.0.113.9", ""),
    ],
)
def test_only_a_trusted_proxy_names_the_address_of_its_client(peer: str, forwarded: str, client: str) -> None:
    proxies = parse_proxies("127.0.0.1, ::1,172.18.0.0/16")
    assert proxies.find_client(peer, forwarded) == client


def test_the_own_machine_is_trusted_unless_the_setting_says_otherwise() -> None:
    assert TrustedProxies().trusts("127.0.0.1")
    assert not TrustedProxies().trusts("10.0.0.1")
    assert not parse_proxies("").trusts("127.0.0.1")
    with pytest.raises(BadSetting, match="THREADLORE_TRUSTED_PROXIES"):
        parse_proxies("proxy.example.org")


def test_all_addresses_of_a_subscriber_have_one_share() -> None:
    assert to_share_key("2001:db8:0:1::5") == to_share_key("2001:db8:0:1:ffff::9") != to_share_key("2001:db8:0:2::5")
    assert to_share_key("203.0.113.9") == "203.0.113.9"
    assert to_share_key("") == ""
