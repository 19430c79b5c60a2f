"""Choose platforms, collect their secrets, and ask the platforms about them."""

from __future__ import annotations

import asyncio
import webbrowser
from typing import TYPE_CHECKING

from bot.errors import BadSetting
from bot.setup.pasted import mask_word
from bot.setup.platforms import LOCAL, MARKS, describe_check, list_refusals, order_setups, parse_choice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.cli.init.conversation import Conversation
    from bot.plugins import AccessCheck, PlatformSetup, SetupStep
    from bot.settings import Settings

MAX_LINK = 200  # characters that are shown of a page that is open, too
SHOW_COMMAND = "BROWSER=none threadlore init"  # no program has this name


def choose_platforms(talk: Conversation, setups: Mapping[str, PlatformSetup]) -> list[str]:
    """The platforms to connect, by name; none for this computer alone. Raises BadSetting."""
    if talk.given.connect or talk.given.is_local:
        return _check_names(talk.given.connect, setups)
    names = [*setups, LOCAL]
    usual = [name for name, setup in setups.items() if any(talk.find_present(c.setting) for c in setup.credentials)]
    for number, name in enumerate(names, 1):
        talk.say(f"  {number}  {setups[name].title if name in setups else 'only this computer'}")
    question = "What shall be connected? Numbers or names; several are possible: 1,2."
    question += f" Enter: {', '.join(usual)}." if usual else ""
    while True:
        answer, question = talk.read(question), ""
        if not answer and usual:
            return usual
        if answer is None:
            options = ", ".join(f"--{name}" for name in names)
            talk.missing.append(f"What to connect: {options}.")
            return []
        try:
            return [text for text in parse_choice(answer, names) if text != LOCAL]
        except ValueError as error:
            _say_again(talk, error)


def _say_again(talk: Conversation, error: ValueError) -> None:
    """Say what is wrong with an answer. Raises BadSetting if nobody can answer again."""
    if not talk.reader.is_terminal:
        raise BadSetting(str(error), hint="Nothing was written.") from error
    talk.say(str(error))


def _check_names(names: Sequence[str], setups: Mapping[str, PlatformSetup]) -> list[str]:
    for name in names:
        if name not in setups:
            raise BadSetting(f"“{name}” cannot be set up here.", hint=f"Known are {', '.join(setups)}.")
    return list(dict.fromkeys(names))


def ask_platform(talk: Conversation, name: str, setups: Mapping[str, PlatformSetup]) -> None:
    """Show the steps on the pages of a platform, and collect its secrets. Raises BadSetting."""
    setup = setups[name]
    ordered = order_setups(name, setups)
    needed = setup.list_needed(talk.load_chosen())
    talk.say()
    talk.say(setup.title)
    is_new = not all(
        credential.setting in talk.given.values or talk.find_present(credential.setting) for credential in needed
    )
    if is_new:
        show_steps(talk, setup.list_first_steps(talk.load_chosen(), _choose_variant(talk, name, setup)), opens=True)
    for credential in needed:
        talk.ask_credential(credential, ordered)


def _choose_variant(talk: Conversation, name: str, setup: PlatformSetup) -> str:
    """The app to create; without an answer, the usual one. Raises BadSetting."""
    names = [variant.name for variant in setup.variants]
    if len(names) < 2:
        return names[0] if names else ""
    given = talk.given.variants.get(name, "")
    if given:
        if given not in names:
            raise BadSetting(f"--{name}-app cannot be “{mask_word(given)}”.", hint=f"It is one of {', '.join(names)}.")
        return given
    if not talk.reader.is_terminal and talk.given.connect:
        return names[0]
    for number, each in enumerate(setup.variants, 1):
        talk.say(f"  {number}  {each.name}: {each.meaning}")
    question = f"Which app? Enter: {names[0]}."
    while True:
        answer, question = talk.read(question), ""
        try:
            return parse_choice(answer, names)[0] if answer else names[0]
        except ValueError as error:
            _say_again(talk, error)


def show_steps(talk: Conversation, steps: Sequence[SetupStep], *, opens: bool = False) -> None:
    """Show numbered steps with their links.

    `opens`: in a terminal with a browser, the first link is opened; a very long one is then not shown.
    """
    for number, step in enumerate(steps, 1):
        talk.say(f"  {number}. {step.text}")
        if not step.link:
            continue
        opened = opens and talk.reader.is_terminal and _open_page(step.link)
        opens = opens and not opened
        if opened and len(step.link) > MAX_LINK:
            talk.say(f"  The page is open in your browser. If it is not: {SHOW_COMMAND} shows its address.")
        else:
            talk.show_link(step.link)


def _open_page(link: str) -> bool:
    """Open a page beside the terminal; a browser that would run within the terminal is not started."""
    try:
        browser = webbrowser.get()
        return type(browser) is not webbrowser.GenericBrowser and browser.open(link)
    except (webbrowser.Error, OSError):
        return False


def check_platform(talk: Conversation, setup: PlatformSetup) -> None:
    """Ask a platform about the chosen secrets, and show what it says."""
    settings = talk.load_chosen()
    found: Sequence[AccessCheck] = asyncio.run(_check(setup, settings))
    for check in found:
        talk.say(f"  {MARKS[check.state]} {describe_check(check)}")
    talk.mistakes += list_refusals(found)


async def _check(setup: PlatformSetup, settings: Settings) -> Sequence[AccessCheck]:
    return await setup.check(settings)
