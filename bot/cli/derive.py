"""Make commands of the rows of capabilities that say enough."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.runner import JsonOption, SpaceOption, perform_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.capabilities.fields import RequestField
    from bot.capabilities.row import Capability


def register(app: typer.Typer) -> None:
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
                app.command(row.name, help=row.summary or row.request.__doc__)(build_command(row))


def build_command(row: Capability) -> Callable[..., None]:
    """The command of a row: an argument for each field without a default, an option for each other one."""
    from bot.capabilities.fields import build_request, list_fields  # noqa: PLC0415  - as above

    def command(context: typer.Context, **values: Any) -> None:
        space, as_json = values.pop("space"), values.pop("as_json")
        perform_request(context, lambda _: build_request(row, values), space=space, as_json=as_json)

    parameters = [
        Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        *map(_build_parameter, list_fields(row)),
        Parameter("space", Parameter.KEYWORD_ONLY, default="", annotation=SpaceOption),
        Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=JsonOption),
    ]
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _build_parameter(field: RequestField) -> Parameter:
    kind = field.type if field.type in {str, int, float, bool} else str
    option: Any = typer.Argument() if field.is_required else typer.Option()
    default = Parameter.empty if field.is_required else field.default
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])
