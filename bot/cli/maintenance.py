"""Commands for the data directory: duplicates, reindex, verify, export, backup, restore, graph."""

from __future__ import annotations

from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot.cli.access.receipts import check_receipt
from bot.cli.options import RowCommand, add_request
from bot.cli.runner import EXIT_FAILED, GlobalOptions, JsonOption, SpaceOption, perform_request, run_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.capabilities.results import OperationResult
    from bot.settings import Settings

BackupArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Backup file.", show_default=False)]
ExportFormat = Literal["jsonl", "graphml"]
VERIFY_HELP = """Compare the graph and vector indexes with the ledger and list every difference.

Of the vectors of entities and relations, whose values the ledger does not have, only place and length are compared.

The chain of the audit log is followed, too: the first entry that was changed or removed is named.

With a receipt of something that was forgotten: check its signature, and that nothing it names is stored. After the
restore of an older backup something may be; --erase-again erases it. With --public-key, receipts of any installation
are checked, without its data.

Exits with 1 if there are any differences, or if something of a receipt is stored.
"""
DUPLICATES_HELP = """List names that may mean the same entity, with the evidence, and those joined automatically.

To merge two names: `threadlore correct merge NAME INTO`. To keep them apart: `threadlore correct separate NAME OTHER`.
To undo an automatic join: `threadlore correct unmerge NAME`.
"""
EXPORT_HELP = """Export a space: all facts as JSON Lines, or the graph as GraphML.

Examples:

  threadlore export -o facts.jsonl

  threadlore export --format graphml -o town.graphml
"""
BACKUP_HELP = """Write all data to one compressed file; also works while the bot is running.

With a key file (--key-file, THREADLORE_BACKUP_KEY_FILE) it is encrypted in the format of age, and nothing that is not
encrypted is written to its disk.
"""
KEY_HELP = """Write a new key for encrypted backups and exports to a file, and print its public key.

Keep a copy of the file elsewhere: without it, no backup can be restored. A file with the public key alone is enough to
write backups. `age` reads what is encrypted with it, too.
"""
KeyFileOption = Annotated[Path | None, typer.Option("--key-file", help="File with a key of age.", show_default=False)]
RETENTION_HELP = """The deletion by age (THREADLORE_RETENTION_DAYS).

A run that would delete more than 100 documents and more than a tenth of all, or whose clock is more than 30 days past
the newest event, waits for `threadlore retention confirm`. `threadlore status` shows it.
"""
RESTORE_HELP = "Restore a backup into the data directory or the database and rebuild the graph and vector indexes."


AUDIT_HELP = """List who asked, changed, forgot and copied what, the newest first: ids, never texts.

People who had themselves forgotten are named no more. Entries go after THREADLORE_AUDIT_DAYS.

Keep the number and the hash of the last entry elsewhere: then `threadlore audit-log --json` shows later whether any
entry up to it was replaced.
"""
EntityArgument = Annotated[str, typer.Argument(metavar="NAME", help="Person, place or thing.", show_default=False)]
PairsOption = Annotated[int, typer.Option("--limit", min=1, max=1000, help="Maximum pairs of each kind.")]
GRAPH = RowCommand("graph", "Show an entity and its relations.", row="entity")
DUPLICATES = RowCommand("duplicates", DUPLICATES_HELP)
AUDIT_LOG = RowCommand("audit-log", AUDIT_HELP, has_space=False)
CONFIRM = RowCommand(
    "confirm",
    "Allow the deletion that waits; the bot runs it within a minute.",
    row="confirm-retention",
    has_space=False,
    has_json=False,
)


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    add_request(app, GRAPH, name=EntityArgument)
    add_request(app, DUPLICATES, limit=(PairsOption, 50))
    app.command("export", help=EXPORT_HELP)(export)
    app.command("backup", help=BACKUP_HELP)(backup)
    app.command("restore", help=RESTORE_HELP)(restore)
    app.command("backup-key", help=KEY_HELP)(backup_key)
    app.command("verify", help=VERIFY_HELP)(verify)
    app.command("reindex", help="Rebuild the graph and vector indexes, for example for another embedder.")(reindex)
    app.add_typer(retention, name="retention")
    add_request(
        app,
        AUDIT_LOG,
        limit=(Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Maximum entries.")], 50),
        before=(Annotated[int, typer.Option("--before", min=0, help="Only entries before this number.")], 0),
        action=(Annotated[str, typer.Option("--action", help="Only this action, such as ask or export.")], ""),
        person=(Annotated[str, typer.Option("--person", help="Only of and about PLATFORM:WORKSPACE:ID.")], ""),
    )


retention = typer.Typer(help=RETENTION_HELP, no_args_is_help=True)


@retention.callback()
def _group() -> None:
    """Keep `confirm` a command of its own."""


add_request(retention, CONFIRM)


def verify(
    context: typer.Context,
    receipt: Annotated[
        str, typer.Argument(metavar="[RECEIPT]", help="File or id of a receipt.", show_default=False)
    ] = "",
    *,
    repair: Annotated[bool, typer.Option("--repair", help="Repair the differences.")] = False,
    erase_again: Annotated[
        bool, typer.Option("--erase-again", help="Erase what a restored backup brought back of a receipt.")
    ] = False,
    public_key: Annotated[
        str, typer.Option("--public-key", help="Only check the signature, by this key.", show_default=False)
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Compare the indexes with the ledger, or a receipt with the data."""
    from bot.capabilities.requests import Verify  # noqa: PLC0415  - keeps --help fast

    if receipt:
        check_receipt(context, receipt, public_key, erase_again=erase_again, as_json=as_json)
    if erase_again or public_key:
        raise typer.BadParameter("--erase-again and --public-key need a receipt.")
    perform_request(context, lambda _: Verify(repair), as_json=as_json, exit_code=_verify_exit_code)


def _verify_exit_code(results: Sequence[OperationResult]) -> int:
    from bot.capabilities.results import VerifyResult  # noqa: PLC0415  - keeps --help fast

    found = [event for event in results if isinstance(event, VerifyResult)]
    return int(any(event.differences or event.audit_problem for event in found))


def reindex(context: typer.Context) -> None:
    """Rebuild both indexes, if necessary with another embedder."""

    async def work(common: GlobalOptions) -> int:
        from bot.capabilities.requests import Reindex  # noqa: PLC0415  - keeps --help fast
        from bot.cli.render.console import Screen  # noqa: PLC0415  - keeps --help fast
        from bot.rpc.service import connect_or_open  # noqa: PLC0415  - keeps --help fast

        async with connect_or_open(common.load_settings(), common.clock, replace_embedder=True) as service:
            await Screen(common.clock).show(service.perform(Reindex()))
        return 0

    run_command(context, work)


def export(
    context: typer.Context,
    export_format: Annotated[
        ExportFormat, typer.Option("--format", help="jsonl: all facts; graphml: the graph.")
    ] = "jsonl",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Output file; the default is standard output.", show_default=False),
    ] = None,
    key_file: KeyFileOption = None,
    space: SpaceOption = "",
) -> None:
    """Export line by line; a file is replaced only when it is complete. With a key it is encrypted."""

    async def work(common: GlobalOptions) -> int:
        from bot.capabilities.maintenance.archive_key import load_key_file  # noqa: PLC0415  - keeps --help fast
        from bot.capabilities.requests import AtSpace, Export  # noqa: PLC0415  - keeps --help fast
        from bot.cli.render.export_file import save_lines  # noqa: PLC0415  - keeps --help fast
        from bot.rpc.service import connect_or_open  # noqa: PLC0415  - keeps --help fast
        from engine.data_dir import DataDir  # noqa: PLC0415  - keeps --help fast

        settings, key = common.load_settings(space=space), load_key_file(key_file.expanduser()) if key_file else None
        async with (
            connect_or_open(settings, common.clock) as service,
            aclosing(service.perform(AtSpace(settings.space, Export(export_format)))) as events,
        ):
            await save_lines(events, output, DataDir(settings.data_path).journal, key)
        return 0

    run_command(context, work)


def backup(context: typer.Context, file: BackupArgument, key_file: KeyFileOption = None) -> None:
    """Write a backup."""
    from bot.capabilities.requests import Backup  # noqa: PLC0415  - keeps --help fast

    def build(settings: Settings) -> Backup:
        key = _find_key_file(settings, key_file)
        return Backup(str(file.expanduser().absolute()), str(key.absolute()) if key else "")

    perform_request(context, build)


def _find_key_file(settings: Settings, chosen: Path | None) -> Path | None:
    """The chosen key file, else that of the settings."""
    if chosen is None:
        return Path(settings.backup_key_file).expanduser() if settings.backup_key_file else None
    return chosen.expanduser()


def backup_key(file: Annotated[Path, typer.Argument(metavar="FILE", help="New file.", show_default=False)]) -> None:
    """Write a key file."""
    from bot.capabilities.maintenance.archive_key import create_key_file  # noqa: PLC0415  - keeps --help fast

    try:
        public = create_key_file(file.expanduser())
    except OSError as error:
        typer.echo(f"The key cannot be written to {file}: {error.strerror}.", err=True)
        raise typer.Exit(EXIT_FAILED) from error
    typer.echo(f"Key written: {file}\nIts public key: {public}")
    typer.echo("Keep a copy of the file elsewhere: without it, no backup can be restored.", err=True)


def restore(
    context: typer.Context,
    file: BackupArgument,
    force: Annotated[bool, typer.Option("--force", help="Replace existing data.")] = False,  # noqa: FBT002  - an option
    check: Annotated[  # noqa: FBT002  - an option
        bool, typer.Option("--check", help="Only rehearse it, in a temporary folder that is deleted afterwards.")
    ] = False,
    key_file: KeyFileOption = None,
) -> None:
    """Unpack the ledger, then rebuild the indexes."""
    if check:
        run_command(context, partial(_rehearse, file=file.expanduser(), key_file=key_file))

    async def work(common: GlobalOptions) -> int:
        from bot.capabilities.maintenance import archive  # noqa: PLC0415  - keeps --help fast
        from bot.capabilities.maintenance.archive_key import load_chosen_key  # noqa: PLC0415  - keeps --help fast
        from bot.capabilities.requests import Reindex  # noqa: PLC0415  - keeps --help fast
        from bot.cli.render.console import Screen  # noqa: PLC0415  - keeps --help fast
        from bot.rpc.service import connect_or_open  # noqa: PLC0415  - keeps --help fast

        settings = common.load_settings()
        key = load_chosen_key(settings, key_file)
        if database := settings.database.get_secret_value():
            from engine import EngineOptions  # noqa: PLC0415  - keeps --help fast

            options = EngineOptions(database=database, fts_tokenizer=settings.fulltext_tokenizer)
            await archive.restore_into_database(
                file.expanduser(), settings.data_path, options, common.clock, force=force, key=key
            )
        else:
            archive.restore_backup(file.expanduser(), settings.data_path, force=force, key=key)
        async with connect_or_open(settings, common.clock, replace_embedder=True) as service:
            await Screen(common.clock).show(service.perform(Reindex(restored=True)))
        return 0

    run_command(context, work)


async def _rehearse(common: GlobalOptions, file: Path, key_file: Path | None) -> int:
    """Restore into a temporary folder, and say what would be there."""
    from bot.capabilities.maintenance.archive_key import load_chosen_key  # noqa: PLC0415  - keeps --help fast
    from bot.capabilities.maintenance.rehearsal import rehearse_restore  # noqa: PLC0415  - as above
    from bot.text.format import pluralize  # noqa: PLC0415  - as above

    found = await rehearse_restore(file, common.clock, load_chosen_key(common.load_settings(), key_file))
    newest = f", the newest of {found.newest:%Y-%m-%d %H:%M} UTC" if found.newest else ""
    bot = "with" if found.has_bot else "without"
    typer.echo(
        f"{file} can be restored: {pluralize(found.documents, 'document')}{newest}, {bot} the data of a bot. It was"
        " deleted again; graph and vectors, which a restore rebuilds, were not tried."
    )
    return 0
