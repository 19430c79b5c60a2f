"""Commands for access tokens: token create, list, revoke."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.runner import JsonOption, SpaceOption, perform_request

if TYPE_CHECKING:
    from bot.settings import Settings

ABOUT = """Access tokens of programs, for the HTTP API and MCP.

Examples:

  threadlore token create editor --permission ask --permission read

  threadlore token create ada-laptop --as PLATFORM:WORKSPACE:PERSON --days 90

  threadlore token revoke 1f0c9a2b7e
"""
DEFAULT_PERMISSIONS = ("ask", "read")
MAX_DAYS = 3650

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="What the token is for.", show_default=False)]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id that `token list` shows.", show_default=False)]
SubjectOption = Annotated[
    str,
    typer.Option(
        "--as",
        metavar="PLATFORM:WORKSPACE:PERSON",
        help="The person for whom the token speaks; by default the space of the terminal.",
    ),
]
PermissionOption = Annotated[
    list[str] | None,
    typer.Option("--permission", help="ask, read, write or manage; repeatable (ask, read).", show_default=False),
]
DaysOption = Annotated[int, typer.Option("--days", min=0, max=MAX_DAYS, help="Days until it expires; 0 for never.")]
LimitOption = Annotated[
    int, typer.Option("--per-minute", min=1, max=100_000, help="Requests that it permits a minute.")
]

token = typer.Typer(help=ABOUT, no_args_is_help=True)


@token.command()
def create(  # noqa: PLR0913, PLR0917  - each parameter is an option
    context: typer.Context,
    name: NameArgument,
    person: SubjectOption = "",
    permissions: PermissionOption = None,
    days: DaysOption = 0,
    limit: LimitOption = 60,
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """Create a token and show it once; only a hash of it is stored."""
    from bot.capabilities.access.requests import CreateToken  # noqa: PLC0415  - keeps --help fast
    from bot.capabilities.access.token_text import parse_permissions, parse_subject  # noqa: PLC0415  - keeps --help fast

    def build_request(settings: Settings) -> CreateToken:
        subject = parse_subject(person or f"space:{settings.space}")
        return CreateToken(name, subject, parse_permissions(permissions or DEFAULT_PERMISSIONS), limit, days)

    perform_request(context, build_request, space=space, as_json=as_json)


@token.command("list")
def list_tokens(context: typer.Context, as_json: JsonOption = False) -> None:  # noqa: FBT002  - an option
    """List all tokens with what they permit and when they were last used."""
    from bot.capabilities.access.requests import ListTokens  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: ListTokens(), as_json=as_json)


@token.command()
def revoke(context: typer.Context, id_: IdArgument) -> None:
    """Revoke a token; it is refused from now on."""
    from bot.capabilities.access.requests import RevokeToken  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: RevokeToken(id_))
