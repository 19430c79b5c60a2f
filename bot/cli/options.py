"""Commands whose options are the fields of a value or of the request of a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from bot.cli.runner import JsonOption, SpaceOption, perform_request
from bot.text.signature import build_parameter, give_signature, list_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bot.capabilities.fields import RequestField
    from bot.capabilities.results import OperationResult
    from bot.capabilities.row import Capability

Options = TypeVar("Options")


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonOptions:
    """The option of commands that also print JSON."""

    as_json: JsonOption = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceOptions(JsonOptions):
    """The options of commands that work in a space."""

    space: SpaceOption = ""


@dataclass(frozen=True, slots=True)
class RowCommand:
    """A command that performs the request of a row of the table of capabilities, which by default has its name.

    `text`: what its help says. `fixed`: fields of the request that are not asked for. `exit_code`: as in
    `perform_request`.
    """

    name: str
    text: str
    row: str = ""
    has_space: bool = True
    has_json: bool = True
    fixed: Mapping[str, Any] = field(default_factory=dict)
    exit_code: Callable[[Sequence[OperationResult]], int] = lambda _: 0


def add_command(
    app: typer.Typer, name: str, options: type[Options], run: Callable[[typer.Context, Options], None], text: str = ""
) -> None:
    """Add a command with an argument or an option for each field of a dataclass.

    `run` gets the values that were typed; `text`: what its help says, else the docstring of `run`.
    """

    def command(context: typer.Context, **values: Any) -> None:
        run(context, options(**values))

    _add(app, name, command, text or run.__doc__ or "", list(list_parameters(options)))


def add_request(app: typer.Typer, request: RowCommand, /, **asked: Any) -> None:
    """Add a command that performs the request of a row.

    `asked`: by field of the request, its type with what typer shows of it, or a pair of that and a default. Of None
    the default is that of the request.
    """
    row = request.row or request.name

    def command(context: typer.Context, **values: Any) -> None:
        from bot.capabilities.table import get_row  # noqa: PLC0415  - keeps --help fast

        space, as_json = values.pop("space", ""), values.pop("as_json", False)
        made = get_row(row).request(
            **request.fixed, **{name: value for name, value in values.items() if value is not None}
        )
        perform_request(context, lambda _: made, space=space, as_json=as_json, exit_code=request.exit_code)

    own = [build_parameter(name, *(kind if isinstance(kind, tuple) else (kind,))) for name, kind in asked.items()]
    shown = {"space": request.has_space and "space" not in asked, "as_json": request.has_json}
    command.row, command.fixed = row, request.fixed  # type: ignore[attr-defined]
    general = [parameter for parameter in list_parameters(SpaceOptions) if shown[parameter.name]]
    _add(app, request.name, command, request.text, [*own, *general])


def add_plugins(app: typer.Typer) -> None:
    """Add the commands of installed packages; without any, nothing is loaded for them."""
    from bot.capabilities.plugins import has_plugins  # noqa: PLC0415  - keeps --help fast

    if has_plugins():
        from bot.capabilities.row import Surface  # noqa: PLC0415  - as above
        from bot.capabilities.table import list_rows  # noqa: PLC0415  - as above
        from bot.errors import BadSetting  # noqa: PLC0415  - as above

        try:
            rows = list_rows()
        except BadSetting as error:
            typer.echo(f"{error} {error.hint}", err=True)
            return
        for row in rows:
            if Surface.CLI in row.derived:
                add_row(app, row)


def add_row(app: typer.Typer, row: Capability) -> None:
    """Add a command of a row: an argument for each field without a default, an option for each other one."""
    from bot.capabilities.fields import build_request, list_fields  # noqa: PLC0415  - as above

    def command(context: typer.Context, **values: Any) -> None:
        space, as_json = values.pop("space"), values.pop("as_json")
        perform_request(context, lambda _: build_request(row, values), space=space, as_json=as_json)

    own = [_build_field(field) for field in list_fields(row)]
    _add(app, row.name, command, row.summary or row.request.__doc__ or "", [*own, *list_parameters(SpaceOptions)])


def _build_field(asked: RequestField) -> Parameter:
    kind = asked.type if asked.type in {str, int, float, bool} else str
    shown: Any = typer.Argument() if asked.is_required else typer.Option()
    return build_parameter(asked.name, Annotated[kind, shown], Parameter.empty if asked.is_required else asked.default)


def _add(app: typer.Typer, name: str, command: Callable[..., None], text: str, parameters: list[Parameter]) -> None:
    context = Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    give_signature(command, [context, *parameters])
    app.command(name, help=text)(command)
