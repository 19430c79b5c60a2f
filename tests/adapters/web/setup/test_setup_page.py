"""The page that sets the program up: one browser with the code of the terminal, and nothing half written."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from adapters.web.setup import check_place
from bot.errors import BadSetting
from bot.settings import Settings, read_variables
from bot.setup import weights
from tests.support.setup_site import SetupSite, open_setup_site
from tests.support.slack_server import FakeSlack

APP_TOKEN = "xapp-1-A0123456789-1234567890123-0123456789abcdef"
BOT_TOKEN = "xoxb-1000-2000-threadlore"
WRONG_TOKEN = "xoxb-1000-2000-revokedlongago"
SLACK = {"slack_app_token": APP_TOKEN, "slack_bot_token": BOT_TOKEN}
WITHOUT_MODEL = {"none": "1"}
KEY_TEXT = "sk-proj-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6"


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "is_installed", lambda _: True)


@pytest.fixture
async def slack(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as slack:
        monkeypatch.setenv("THREADLORE_SLACK_API_BASE", slack.base_url)
        yield slack


@asynccontextmanager
async def browse(site: SetupSite, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
    """A browser on this computer that follows redirects."""
    own = {"origin": site.url, "sec-fetch-site": "same-origin", "accept": "text/html", **headers}
    async with httpx.AsyncClient(base_url=site.url, headers=own, follow_redirects=True, trust_env=False) as browser:
        yield browser


async def enter(browser: httpx.AsyncClient, code: str) -> httpx.Response:
    return await browser.post("/setup/enter", data={"code": code.lower().replace("-", " ")})


def find_version(page: httpx.Response) -> str:
    found = re.search(r'name="version" value="(\d+)"', page.text)
    assert found is not None, page.text
    return found[1]


async def test_this_computer_alone_needs_three_clicks_and_no_file(tmp_path: Path) -> None:
    async with open_setup_site(tmp_path / "home") as site, browse(site) as browser:
        assert "Code of the terminal" in (await browser.get("/graph")).text
        assert "What shall be connected?" in (await enter(browser, site.codes[0])).text
        assert "Which model" in (await browser.post("/setup/connect", data={"local": "1"})).text
        review = await browser.post("/setup/model", data=WITHOUT_MODEL)
        assert "No setting is needed" in review.text
        ended = await browser.post("/setup/review", data={"version": find_version(review)})
        assert "Threadlore starts" in ended.text
        assert (await browser.post("/setup/leave")).status_code == 204
        await site.ended.wait()
    assert (site.result, site.file.exists()) == (True, False)


async def test_swapped_tokens_are_kept_as_what_they_are_checked_and_written_for_the_owner_alone(
    tmp_path: Path, slack: FakeSlack
) -> None:
    home = tmp_path / "home"
    async with open_setup_site(home) as site, browse(site) as browser:
        await enter(browser, site.codes[0])
        page = await browser.post("/setup/connect", data={"platform": "slack", "variant-slack": "agent"})
        app_token, bot_token = slack.space.app.app_token, slack.space.app.bot_token
        assert "https://api.slack.com/apps?new_app=1&amp;manifest_json=%7B" in page.text
        assert "agent_view" in page.text
        told = await browser.post(
            "/setup/recognize", data={"platform": "slack", "setting": "slack_app_token", "value": bot_token}
        )
        assert (told.json()["move"], "bot token" in told.json()["text"]) == ("slack_bot_token", True)
        swapped = {"slack_app_token": f' "{bot_token}" ', "slack_bot_token": app_token}
        assert "Which model" in (await browser.post("/setup/platform/slack", data=swapped)).text
        review = await browser.post("/setup/model", data=WITHOUT_MODEL)
        assert "Slack knows the bot" in review.text
        assert not site.file.exists()
        ended = await browser.post("/setup/review", data={"version": find_version(review)})
        assert "/invite @threadlore" in ended.text
        assert not {app_token, bot_token} & set(re.findall(r"x[\w-]+", page.text + review.text + ended.text))
    expected = {"THREADLORE_SLACK_APP_TOKEN": app_token, "THREADLORE_SLACK_BOT_TOKEN": bot_token}
    assert read_variables(site.file) == expected
    assert site.file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "The app-level token is needed."),
        ({**SLACK, "slack_bot_token": "xoxp-1-2-a-user-token-of-a-person"}, "user token (xoxp-)"),
        ({**SLACK, "slack_app_token": "xapp-1-••••••••"}, "hidden or cut off by dots"),
        ({**SLACK, "slack_bot_token": WRONG_TOKEN}, "Slack does not accept"),
    ],
)
async def test_what_cannot_work_is_said_on_the_same_page(
    tmp_path: Path, slack: FakeSlack, fields: dict[str, str], said: str
) -> None:
    async with open_setup_site(tmp_path / "home") as site, browse(site) as browser:
        await enter(browser, site.codes[0])
        await browser.post("/setup/connect", data={"platform": "slack"})
        page = await browser.post("/setup/platform/slack", data=fields)
        assert (page.status_code, said in page.text) == (422, True), page.text
        assert "Connect Slack" in (await browser.get("/")).text  # a reload is at the same step


async def test_a_second_tab_cannot_change_what_the_first_one_shows(tmp_path: Path) -> None:
    async with open_setup_site(tmp_path / "home") as site, browse(site) as browser:
        await enter(browser, site.codes[0])
        await browser.post("/setup/connect", data={"local": "1"})
        review = await browser.post("/setup/model", data=WITHOUT_MODEL)
        await browser.post("/setup/connect", data={"local": "1"})
        late = await browser.post("/setup/review", data={"version": find_version(review)})
        assert (late.status_code, "another tab" in late.text) == (409, True)
        assert not site.file.exists()
        done = await browser.post("/setup/review", data={"version": find_version(late)})
        again = await browser.post("/setup/review", data={"version": find_version(review)})
        assert "Threadlore starts" in done.text
        assert "Threadlore starts" in again.text


@pytest.mark.long
async def test_what_a_platform_refuses_is_written_only_if_that_is_wanted(tmp_path: Path, slack: FakeSlack) -> None:
    fields = {"slack_app_token": slack.space.app.app_token, "slack_bot_token": WRONG_TOKEN}
    async with open_setup_site(tmp_path / "home") as site, browse(site) as browser:
        await enter(browser, site.codes[0])
        await browser.post("/setup/connect", data={"platform": "slack"})
        await browser.post("/setup/platform/slack", data=fields)
        await browser.post("/setup/platform/slack", data={"anyway": "1"})
        review = await browser.post("/setup/model", data=WITHOUT_MODEL)
        refused = await browser.post("/setup/review", data={"version": find_version(review)})
        assert (refused.status_code, site.file.exists()) == (422, False)
        await browser.post("/setup/review", data={"version": find_version(refused), "anyway": "1"})
    assert read_variables(site.file)["THREADLORE_SLACK_BOT_TOKEN"] == WRONG_TOKEN


@pytest.mark.long
async def test_what_is_pasted_anew_is_asked_about_before_it_is_gone_on_with(tmp_path: Path, slack: FakeSlack) -> None:
    fields = {"slack_app_token": slack.space.app.app_token, "slack_bot_token": WRONG_TOKEN}
    right = slack.space.app.bot_token
    async with open_setup_site(tmp_path / "home") as site, browse(site) as browser:
        await enter(browser, site.codes[0])
        await browser.post("/setup/connect", data={"platform": "slack"})
        await browser.post("/setup/platform/slack", data=fields)
        await browser.post("/setup/platform/slack", data={"slack_bot_token": right, "anyway": "1"})
        review = await browser.post("/setup/model", data=WITHOUT_MODEL)
        await browser.post("/setup/review", data={"version": find_version(review)})
    assert read_variables(site.file)["THREADLORE_SLACK_BOT_TOKEN"] == right


async def test_a_key_in_the_place_of_the_model_is_not_shown(tmp_path: Path) -> None:
    async with open_setup_site(tmp_path / "home") as site, browse(site) as browser:
        await enter(browser, site.codes[0])
        await browser.post("/setup/connect", data={"local": "1"})
        refused = await browser.post("/setup/model", data={"llm_model": KEY_TEXT})
    assert (refused.status_code, KEY_TEXT in refused.text) == (422, False)


@pytest.mark.long
async def test_a_code_is_entered_once_and_another_browser_takes_over(tmp_path: Path) -> None:
    async with open_setup_site(tmp_path / "home") as site, browse(site) as first, browse(site) as second:
        assert (await enter(second, "WRONG-CODE")).status_code == 401
        assert "What shall be connected?" in (await enter(first, site.codes[0])).text
        assert (await enter(second, site.codes[0])).status_code == 401
        assert "another browser window" in (await second.get("/")).text
        await second.post("/setup/code")
        assert "What shall be connected?" in (await enter(second, site.codes[1])).text
        assert "Code of the terminal" in (await first.get("/setup/connect")).text
        for _ in range(30):
            last = await enter(first, "GUESS-GUESS")
        assert last.status_code == 429


@pytest.mark.long
async def test_other_hosts_other_sites_and_programs_are_refused(tmp_path: Path) -> None:
    async with open_setup_site(tmp_path / "home") as site:
        for headers, path, status in (
            ({"host": "evil.example"}, "/", 403),
            ({"x-forwarded-for": "10.0.0.1"}, "/", 403),
            ({"sec-fetch-site": "cross-site", "sec-fetch-dest": "image"}, "/", 403),
            ({}, "/api/v1/health", 503),
        ):
            async with browse(site, **headers) as browser:
                assert (await browser.get(path)).status_code == status, headers
        async with browse(site, origin="https://evil.example", **{"sec-fetch-site": "cross-site"}) as browser:
            assert (await enter(browser, site.codes[0])).status_code == 403
        async with browse(site) as browser:
            assert (await browser.post("/setup/enter", data={"code": "A" * 40_000})).status_code == 413
            assert (await browser.post("/setup/review")).url.path == "/"  # without the code


async def test_a_restart_begins_anew(tmp_path: Path) -> None:
    async with open_setup_site(tmp_path / "home") as site, browse(site) as browser:
        await enter(browser, site.codes[0])
        cookies = dict(browser.cookies)
    async with open_setup_site(tmp_path / "home") as again, browse(again) as browser:
        browser.cookies.update(cookies)
        assert "Code of the terminal" in (await browser.get("/setup/model")).text
    assert (site.result, again.result, (tmp_path / "home").exists()) == (False, False, False)


@pytest.mark.parametrize("places", [{"web_host": "0.0.0.0"}, {"web_url": "https://lore.example"}])
def test_an_address_that_others_reach_is_refused(places: dict[str, str]) -> None:
    with pytest.raises(BadSetting, match="for this computer alone"):
        check_place(Settings().model_copy(update=places))
