"""The command `init`, whose options for platforms are made of what their setups say."""

from __future__ import annotations

import stat
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from bot.cli.runner import GlobalOptions, run_blocking
from bot.text.signature import give_signature

if TYPE_CHECKING:
    from bot.cli.init.conversation import Conversation, Given

INIT_HELP = """Set everything up: asks what to connect, takes tokens and a model, checks them, and writes the settings.

Can be repeated: Enter keeps what is there. Answers may come by options, by the variables of .env.example, from a \
terminal, or as lines of a pipe, one a question. Exits with 1, and writes nothing, if something is missing or refused.
"""
OWN_VALUES = {
    "llm_model": "The model that writes answers, by its litellm name, or none.",
    "llm_api_key": "The API key of its provider.",
    "llm_api_base": "The address of a server of your own.",
    "languages": "Languages of texts and questions, such as de,en.",
}
SEEN_BY_OTHERS = "Others on this computer can see it while the command runs: better the file."


class InitCommand(TyperCommand):
    """A command with an option for each platform, variant and secret; it loads their setups only when it is used."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options of the function, and those of the platforms."""
        own = super().get_params(ctx)
        return [*own[:-1], *_build_options(), own[-1]]


def _build_options() -> list[Any]:
    """The options that hold values; each is kept in the context under "threadlore." and its kind, by name."""
    from bot.setup.platforms import load_setups  # noqa: PLC0415  - keeps --help of others fast

    parameters = list[Parameter]()
    for name, setup in load_setups().items():
        parameters.append(_build_option(f"--{name}", f"Connect {setup.title}.", ("connect", name), bool))
        if len(setup.variants) > 1:
            variants = "; ".join(f"{variant.name}: {variant.meaning}" for variant in setup.variants)
            parameters.append(_build_option(f"--{name}-app", f"{variants}.", ("variants", name)))
        for credential in setup.credentials:
            parameters += _build_value_options(credential.setting, f"The {credential.name} ({credential.shape}).")
    for setting, text in OWN_VALUES.items():
        parameters += _build_value_options(setting, text, is_secret=setting.endswith("key"))

    def holder(**_: Any) -> None:
        """A holder of the options as parameters, of which typer makes those of a command."""

    give_signature(holder, parameters)
    app = typer.Typer(add_completion=False)
    app.command()(holder)
    return list(typer.main.get_command(app).params)


def _build_value_options(setting: str, text: str, *, is_secret: bool = True) -> list[Parameter]:
    """An option; that of a secret has another one beside it for a file."""
    option = f"--{setting.replace('_', '-')}"
    if not is_secret:
        return [_build_option(option, text, ("values", setting))]
    return [
        _build_option(option, f"{text} {SEEN_BY_OTHERS}", ("values", setting)),
        _build_option(f"{option}-file", "The same, from a file that only you can read.", ("files", setting)),
    ]


def _build_option(option: str, text: str, place: tuple[str, str], type_: type = str) -> Parameter:
    kind, name = place

    def store(context: typer.Context, value: Any) -> None:
        if value:
            context.meta.setdefault(f"threadlore.{kind}", {})[name] = value

    made: Any = typer.Option(option, help=text, show_default=False, expose_value=False, callback=store)
    parameter, default = option.strip("-").replace("-", "_"), False if type_ is bool else None
    return Parameter(
        parameter,
        Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[type_ if default is False else type_ | None, made],
    )


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("init", help=INIT_HELP, cls=InitCommand)(init)


def init(
    context: typer.Context,
    local: Annotated[bool, typer.Option("--local", help="Connect nothing: only this computer.")] = False,  # noqa: FBT002  - an option
    start: Annotated[bool, typer.Option("--start", help="Start `serve` at the end.")] = False,  # noqa: FBT002  - an option
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Install what is missing without asking.")] = False,  # noqa: FBT002  - an option
    no_check: Annotated[bool, typer.Option("--no-check", help="Ask no platform and no model.")] = False,  # noqa: FBT002  - an option
    no_input: Annotated[bool, typer.Option("--no-input", help="Ask nothing: what is missing is listed.")] = False,  # noqa: FBT002  - an option
) -> None:
    """Set everything up."""

    def work(common: GlobalOptions) -> int:
        from bot.cli.init import ending  # noqa: PLC0415  - keeps --help fast
        from bot.cli.init.conversation import choose_reader  # noqa: PLC0415  - as above
        from bot.monitoring import log_config  # noqa: PLC0415  - as above

        log_config.configure_logging(common.clock, debug=common.debug)
        given = _read_given(context, is_local=local, checks=not no_check, yes=yes)
        talk = ending.open_conversation(common, given, choose_reader(may_ask=not no_input))
        platforms = _converse(talk, common)
        ending.finish(talk, common, platforms)
        return ending.start(common, talk, platforms) if start else 0

    run_blocking(context, work)


def _read_given(context: typer.Context, *, is_local: bool, checks: bool, yes: bool) -> Given:
    """What the command line says. Raises BadSetting."""
    from bot.cli.init.conversation import Given  # noqa: PLC0415  - keeps --help fast

    stored = {name: context.meta.get(f"threadlore.{name}", {}) for name in ("connect", "variants", "values", "files")}
    files = {setting: _read_secret(Path(path)) for setting, path in stored["files"].items()}
    return Given({**stored["values"], **files}, tuple(stored["connect"]), stored["variants"], is_local, checks, yes)


def _read_secret(path: Path) -> str:
    """The content of a file that holds one value, and that nobody else can read. Raises BadSetting."""
    from bot.errors import BadSetting  # noqa: PLC0415  - keeps --help fast

    try:
        if path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
            raise BadSetting(f"Others can read {path}.", hint=f"Keep it to yourself: chmod 600 {path}")
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadSetting(f"{path} cannot be read: {reason}.", hint="Name a file that holds the value alone.") from error


def _converse(talk: Conversation, common: GlobalOptions) -> list[str]:
    """Ask everything, and check it; returns the platforms. Raises BadSetting."""
    from bot.cli.init import languages, models, platforms  # noqa: PLC0415  - keeps --help fast
    from bot.setup.platforms import load_setups  # noqa: PLC0415  - as above

    setups = load_setups()
    chosen = platforms.choose_platforms(talk, setups)
    for name in chosen:
        platforms.ask_platform(talk, name, setups)
        if talk.given.checks and not talk.missing:
            platforms.check_platform(talk, setups[name])
    models.ask_model(talk)
    languages.ask_languages(talk)
    if not talk.missing:
        checks = models.check_model(talk, common.clock) if talk.given.checks else []
        models.show_cost(talk, checks)
    return chosen
