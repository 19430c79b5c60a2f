"""Commands that keep the data folder: reindex, verify, export, backup, restore, graph."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot.cli.runner import GlobalOptions, JsonOption, SpaceOption, perform_request, run_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.admin.results import OperationResult

BackupArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.", show_default=False)]
ExportFormat = Literal["jsonl", "graphml"]
VERIFY_HELP = "Hold graph and vectors against the ledger and list every difference; exit code 1 if there is any."
EXPORT_HELP = """Write everything of a space: all facts as JSON Lines, or the graph as GraphML.

Examples:

  threadlore export -o facts.jsonl

  threadlore export --format graphml -o town.graphml
"""
BACKUP_HELP = "Write all that is known into one compressed file; works beside a running program."
RESTORE_HELP = "Make a data folder from a backup; graph and vectors are made anew."


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("graph", help="Show what is known of a name, and its relations.")(graph)
    app.command("export", help=EXPORT_HELP)(export)
    app.command("backup", help=BACKUP_HELP)(backup)
    app.command("restore", help=RESTORE_HELP)(restore)
    app.command("verify", help=VERIFY_HELP)(verify)
    app.command("reindex", help="Make graph and vectors anew, also with another embedder.")(reindex)


def graph(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A person, a place, a thing.", show_default=False)],
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """Show a name and its relations."""
    from bot.admin.requests import GetEntity  # noqa: PLC0415  - --help spares it

    perform_request(context, lambda settings: GetEntity(name, (settings.space,)), space=space, as_json=as_json)


def verify(
    context: typer.Context,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what differs.")] = False,  # noqa: FBT002  - an option
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """Compare, and mend if asked to."""
    from bot.admin.requests import Verify  # noqa: PLC0415  - --help spares it

    perform_request(context, lambda _: Verify(repair), as_json=as_json, code=_verify_exit_code)


def _verify_exit_code(seen: Sequence[OperationResult]) -> int:
    from bot.admin.results import VerifyResult  # noqa: PLC0415  - --help spares it

    return int(any(event.differences for event in seen if isinstance(event, VerifyResult)))


def reindex(context: typer.Context) -> None:
    """Make both projections anew, if need be with another embedder."""

    async def work(common: GlobalOptions) -> int:
        from bot.admin.requests import Reindex  # noqa: PLC0415  - --help spares it
        from bot.admin.rpc.service import connect_or_open  # noqa: PLC0415  - --help spares it
        from bot.cli.render.console import Screen  # noqa: PLC0415  - --help spares it

        async with connect_or_open(common.load_settings(), replace_embedder=True) as service:
            await Screen().show(service.perform(Reindex()))
        return 0

    run_command(context, work)


def export(
    context: typer.Context,
    form: Annotated[
        ExportFormat, typer.Option("--format", help="All facts, or the graph for other programs.")
    ] = "jsonl",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A file instead of the terminal.", show_default=False)
    ] = None,
    space: SpaceOption = "",
) -> None:
    """Write line by line; a file is there whole or not at all."""

    async def work(common: GlobalOptions) -> int:
        from bot.admin.requests import Export  # noqa: PLC0415  - --help spares it
        from bot.admin.rpc.service import connect_or_open  # noqa: PLC0415  - --help spares it
        from bot.cli.export_file import save_lines  # noqa: PLC0415  - --help spares it

        settings = common.load_settings(space=space)
        async with (
            connect_or_open(settings) as service,
            aclosing(service.perform(Export((settings.space,), form))) as events,
        ):
            await save_lines(events, output)
        return 0

    run_command(context, work)


def backup(context: typer.Context, file: BackupArgument) -> None:
    """Write one file."""
    from bot.admin.requests import Backup  # noqa: PLC0415  - --help spares it

    perform_request(context, lambda _: Backup(str(file.expanduser().absolute())))


def restore(
    context: typer.Context,
    file: BackupArgument,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder that is there.")] = False,  # noqa: FBT002  - an option
) -> None:
    """Unpack the ledger, then make the rest anew."""

    async def work(common: GlobalOptions) -> int:
        from bot.admin.backup import archive  # noqa: PLC0415  - --help spares it
        from bot.admin.requests import Reindex  # noqa: PLC0415  - --help spares it
        from bot.admin.rpc.service import connect_or_open  # noqa: PLC0415  - --help spares it
        from bot.cli.render.console import Screen  # noqa: PLC0415  - --help spares it

        settings = common.load_settings()
        archive.restore_backup(file.expanduser(), settings.data_path, force=force)
        async with connect_or_open(settings, replace_embedder=True) as service:
            await Screen().show(service.perform(Reindex()))
        return 0

    run_command(context, work)
