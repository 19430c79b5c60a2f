"""Logins are configured by an address and clients; an address without TLS is refused."""

from __future__ import annotations

import pytest

from adapters.web.oauth import decode_attempt, encode_attempt, read_login_options, start_attempt
from bot.errors import BadSetting
from bot.settings import load_settings
from engine.clock import SYSTEM_CLOCK

CLIENTS = "slack:1.2:s1, discord:3:s3"


def test_each_client_has_its_exact_address() -> None:
    assert read_login_options(load_settings(), SYSTEM_CLOCK).clients == {}
    options = read_login_options(
        load_settings(web_url="https://lore.example.org/", web_login_clients=CLIENTS), SYSTEM_CLOCK
    )
    slack, discord = options.clients["slack"], options.clients["discord"]
    assert (slack.id, slack.secret, slack.redirect_uri) == (
        "1.2",
        "s1",
        "https://lore.example.org/login/slack/callback",
    )
    assert discord.redirect_uri == "https://lore.example.org/login/discord/callback"
    assert "s1" not in repr(options)
    assert read_login_options(
        load_settings(web_url="http://localhost:8630", web_login_clients=CLIENTS), SYSTEM_CLOCK
    ).clients


@pytest.mark.parametrize(
    ("url", "clients"),
    [
        *((url, CLIENTS) for url in ("", "http://lore.example.org", "https://", "https://a.example/path", "ftp://a")),
        *((url, CLIENTS) for url in ("https://u@a.example", "https://a.example?x=1", "http://localhost.evil.example")),
        *(("https://a.example", clients) for clients in ("slack:1", "github:1:2", "slack::2", "slack:1:2:3")),
    ],
)
def test_a_wrong_setting_is_refused_without_showing_secrets(url: str, clients: str) -> None:
    with pytest.raises(BadSetting) as caught:
        read_login_options(load_settings(web_url=url, web_login_clients=clients), SYSTEM_CLOCK)
    assert "s1" not in f"{caught.value}{caught.value.hint}"


def test_an_attempt_survives_its_cookie_and_others_do_not() -> None:
    attempt = start_attempt("slack", "/?a=b", "T1")
    assert decode_attempt(encode_attempt(attempt)) == attempt
    assert not {attempt.state, attempt.nonce, attempt.verifier} & {*repr(attempt).split("'")}
    for cookie in ("", "x", "e30=", "bnVsbA==", "W10=", "é", encode_attempt(attempt)[:-8]):
        assert decode_attempt(cookie) is None
