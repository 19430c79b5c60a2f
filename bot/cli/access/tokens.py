"""Commands for access tokens: token create, list, revoke."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.options import RowCommand, SpaceOptions, add_command, add_request
from bot.cli.runner import perform_request

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

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id that `token list` shows.", show_default=False)]
LIST = RowCommand(
    "list", "List all tokens with what they permit and when they were last used.", row="tokens", has_space=False
)
REVOKE = RowCommand(
    "revoke", "Revoke a token; it is refused from now on.", row="revoke-token", has_space=False, has_json=False
)

token = typer.Typer(help=ABOUT, no_args_is_help=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenOptions(SpaceOptions):
    """What `token create` asks for."""

    name: Annotated[str, typer.Argument(metavar="NAME", help="What the token is for.", show_default=False)]
    person: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="PLATFORM:WORKSPACE:PERSON",
            help="The person for whom the token speaks; by default the space of the terminal.",
        ),
    ] = ""
    permissions: Annotated[
        list[str] | None,
        typer.Option("--permission", help="ask, read, write or manage; repeatable (ask, read).", show_default=False),
    ] = None
    days: Annotated[int, typer.Option("--days", min=0, max=MAX_DAYS, help="Days until it expires; 0 for never.")] = 0
    limit: Annotated[
        int, typer.Option("--per-minute", min=1, max=100_000, help="Requests that it permits a minute.")
    ] = 60


def create(context: typer.Context, given: TokenOptions) -> None:
    """Create a token and show it once; only a hash of it is stored."""
    from bot.capabilities.access.requests import CreateToken  # noqa: PLC0415  - keeps --help fast
    from bot.capabilities.access.tokens import parse_permissions, parse_subject  # noqa: PLC0415  - keeps --help fast

    def build_request(settings: Settings) -> CreateToken:
        subject = parse_subject(given.person or f"space:{settings.space}")
        permissions = parse_permissions(given.permissions or DEFAULT_PERMISSIONS)
        return CreateToken(given.name, subject, permissions, given.limit, given.days)

    perform_request(context, build_request, space=given.space, as_json=given.as_json)


add_command(token, "create", TokenOptions, create)
add_request(token, LIST)
add_request(token, REVOKE, id=IdArgument)
