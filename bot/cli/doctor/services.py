"""Checks of what the bot talks to: the running process, the platforms, the models; and the versions of it all."""

from __future__ import annotations

import asyncio
import platform
from contextlib import aclosing
from importlib.metadata import version
from typing import TYPE_CHECKING

from bot.capabilities.management.checked_models import summarize_facts
from bot.capabilities.management.requests import GetHealth
from bot.capabilities.management.results import HealthReport
from bot.capabilities.requests import AtSpace
from bot.cli.doctor.finding import Finding
from bot.errors import BadSetting
from bot.model_setup.checks import check_models
from bot.model_setup.openers import check_weights, open_parser_service, read_languages
from bot.plugins import list_setup_names, load_setup
from bot.rpc.socket import HolderUnreached, find_service
from bot.server import configured_platforms
from bot.setup.misplaced import list_misplaced
from engine.errors import EngineError
from engine.llm.e5.spoken import describe_languages, load_spoken, needs_multilingual

if TYPE_CHECKING:
    from bot.cli.doctor.finding import CheckContext, FindingState

ANSWER_SECONDS = 5.0  # for the running process
MODEL_SECONDS = 60.0  # for all models together
PACKAGES = ("kuzu", "lancedb", "litellm")


async def check_running(context: CheckContext) -> Finding:
    """What the process that holds the data says of itself, and whether it is of the installed version."""
    name, report = "bot", await _ask_running(context)
    if report is None:
        return Finding(name, "ok", "It is not running; threadlore serve starts it.")
    if isinstance(report, str):
        return Finding(name, "failed", f"It holds the data, and {report}", "Look at its log, then restart it.")
    installed = version("threadlore")
    if report.version != installed:
        text = f"It runs as version {report.version}, and {installed} is installed."
        return Finding(name, "warning", text, "Restart it.")
    text = f"It is {report.status}. {' '.join(report.reasons)}".strip()
    if report.status == "ok":
        return Finding(name, "ok", f"It runs as version {installed}; {report.waiting_events or 0} events wait.")
    state: FindingState = "failed" if report.status == "failing" else "warning"
    return Finding(name, state, text, "docs/operations.md, Faults, says what to do.")


async def _ask_running(context: CheckContext) -> HealthReport | str | None:
    """The health of the running process, or the end of a sentence if it says none; None if there is no process."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            if (running := await find_service(context.settings.data_path)) is None:
                return None
            async with aclosing(running.perform(AtSpace(context.settings.space, GetHealth()))) as results:
                async for result in results:
                    if isinstance(result, HealthReport):
                        return result
    except TimeoutError:
        return f"does not answer within {ANSWER_SECONDS:.0f} seconds."
    except HolderUnreached:
        return None
    except EngineError as error:
        return f"says nothing of itself: {error}"
    return "says nothing of itself."


async def check_platforms(context: CheckContext) -> list[Finding]:
    """What each platform that is set up says of the tokens, scopes and permissions."""
    names = [name for name in configured_platforms(context.settings) if name in list_setup_names()]
    if not names:
        return [Finding("platforms", "ok", "None is set up; threadlore init connects one.")]
    return [finding for name in names for finding in await _check_platform(name, context)]


async def _check_platform(name: str, context: CheckContext) -> list[Finding]:
    setup = load_setup(name)
    try:
        if misplaced := list_misplaced(name, context.settings):
            return [Finding(setup.title, "failed", sentence) for sentence in misplaced]
        found = await setup.check(context.settings)
    except BadSetting as error:
        return [Finding(setup.title, "failed", str(error), error.hint)]
    return [Finding(setup.title, check.state, check.text, check.hint) for check in found]


async def check_model_roles(context: CheckContext) -> list[Finding]:
    """Whether each model can be used; one that was checked lately with the same settings is not called again."""
    findings = list[Finding]()
    try:
        check_weights(context.settings)
        async with asyncio.timeout(MODEL_SECONDS):
            checks = await check_models(context.settings, context.clock, is_start=True)
    except EngineError as error:
        return [Finding("models", "failed", str(error), error.hint)]
    except TimeoutError:
        return [Finding("models", "failed", "They did not answer within a minute.", "Run threadlore check.")]
    told = dict[tuple[str, str], str]()  # a problem is told once, though several roles have the model
    for check in checks:
        problems = " ".join(f"{problem.text} {problem.hint}".strip() for problem in check.problems)
        first = told.setdefault((check.model, problems), check.role)
        shown = f"the same as for {first}." if problems and first != check.role else problems
        text = f"{check.model}: {shown or summarize_facts(check.facts) or 'it can be used.'}"
        state: FindingState = "failed" if not check.works else "warning" if check.problems else "ok"
        findings.append(Finding(f"model: {check.role}", state, text, "threadlore check" if problems else ""))
    return findings or [Finding("models", "ok", "None is set: answers quote, vectors are made here.")]


async def check_languages(context: CheckContext) -> Finding:
    """Which languages of texts are in force, and which are spoken."""
    name, settings = "languages", context.settings
    if settings.embedding_model:
        return Finding(name, "ok", "The embedder is set by its name; languages choose none.")
    try:
        used, spoken = read_languages(settings), load_spoken(settings.data_path)
    except BadSetting as error:
        return Finding(name, "failed", str(error), error.hint)
    text = describe_languages(used, spoken)
    if spoken is not None and needs_multilingual(spoken.wanted) and not needs_multilingual(used):
        hint = "Set THREADLORE_LANGUAGES to them, or to auto; then run threadlore setup and restart the bot."
        return Finding(name, "warning", text, hint)
    return Finding(name, "ok", text)


async def check_parser_service(context: CheckContext) -> Finding:
    """Whether the service that converts files answers, and which files go there."""
    name, settings = "parser service", context.settings
    service = open_parser_service(settings)
    if service is None:
        return Finding(name, "ok", "None is set: all files are read by this program.")
    endings = ", ".join(f".{extension}" for extension in sorted(service.extensions))
    text = f"Files that end in {endings} are sent to {settings.parser_service_url} ({settings.parser_service})"
    if problem := await service.check():
        hint = "Until it works they are read by this program, and each says so; see THREADLORE_PARSER_SERVICE_URL."
        return Finding(name, "warning", f"{text}, but {problem}.", hint)
    return Finding(name, "ok", f"{text}. What it cannot read is read by this program.")


async def check_versions(_: CheckContext) -> Finding:
    """The versions of the program and of its libraries."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    system = f"Python {platform.python_version()}, {platform.system()} {platform.release()}"
    return Finding("versions", "ok", f"Threadlore {version('threadlore')}, {packages}, {system}.")
