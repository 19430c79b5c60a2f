"""Receipts of erasures at the terminal: keep one in a file, list those that were kept, compare one with the data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.runner import EXIT_FAILED, GlobalOptions, JsonOption, perform_request, run_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.capabilities.results import OperationResult

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")]
ReceiptOption = Annotated[
    Path | None, typer.Option("--receipt", help="File for the signed receipt.", show_default=False)
]
RECEIPTS_HELP = """List the signed receipts of what was forgotten, or print one.

A receipt holds how much went, and names of it that this installation alone can compute, but no word of it.
`threadlore verify RECEIPT` compares it with the data. Whoever has the public key can check its signature.

Examples:

  threadlore receipts 5f0c7e21ab90 > receipt.json

  threadlore receipts --public-key
"""


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("receipts", help=RECEIPTS_HELP)(receipts)


def receipts(
    context: typer.Context,
    receipt: Annotated[str, typer.Argument(metavar="[ID]", help="Print this one.", show_default=False)] = "",
    public_key: Annotated[  # noqa: FBT002  - an option
        bool, typer.Option("--public-key", help="Print the public key of this installation.")
    ] = False,
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    """List receipts, print one, or print the public key."""
    from bot.capabilities.erasure.requests import ListReceipts  # noqa: PLC0415  - keeps --help fast

    if public_key:
        run_command(context, _print_public_key)
    perform_request(context, lambda _: ListReceipts(receipt), as_json=as_json)


async def _print_public_key(common: GlobalOptions) -> int:
    from bot.capabilities.erasure.files import read_public_key  # noqa: PLC0415  - keeps --help fast

    typer.echo(read_public_key(common.load_settings()))
    return 0


def write_receipt(results: Sequence[OperationResult], file: Path | None) -> int:
    """Write the receipt among the results into a file, if one is wanted; returns 1 if there is none or it fails."""
    from bot.capabilities.erasure.files import write_receipt_file  # noqa: PLC0415  - keeps --help fast
    from bot.capabilities.results import Erased, Forgotten  # noqa: PLC0415  - as above

    if file is None:
        return 0
    found = next(
        (result.receipt for result in results if isinstance(result, Erased | Forgotten) and result.receipt), None
    )
    if found is None:
        typer.echo("It was forgotten, but there is no receipt: the log says why.", err=True)
        return EXIT_FAILED
    try:
        write_receipt_file(found, file)
    except OSError as error:
        typer.echo(f"{file} cannot be written: {error.strerror}. `threadlore receipts {found['id']}` has it.", err=True)
        return EXIT_FAILED
    typer.echo(f"Receipt written: {file}", err=True)
    return 0


def check_receipt(context: typer.Context, receipt: str, public_key: str, *, erase_again: bool, as_json: bool) -> None:
    """Compare a receipt (a file, or the id of one that was kept) with the data; exits with 1 if something is there."""
    from bot.capabilities.erasure.requests import VerifyReceipt  # noqa: PLC0415  - keeps --help fast

    path = Path(receipt).expanduser()
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else receipt
    if public_key:
        run_command(context, lambda _: _check_elsewhere(text, public_key))
    perform_request(
        context, lambda _: VerifyReceipt(text, erase_again), as_json=as_json, exit_code=_find_receipt_exit_code
    )


async def _check_elsewhere(text: str, public_key: str) -> int:
    """Check the signature by the public key of any installation, whose data are elsewhere. Raises InvalidQuestion."""
    from bot.capabilities.erasure.files import check_elsewhere  # noqa: PLC0415  - keeps --help fast

    typer.echo(check_elsewhere(text, public_key))
    return 0


def _find_receipt_exit_code(results: Sequence[OperationResult]) -> int:
    from bot.capabilities.results import ReceiptChecked  # noqa: PLC0415  - keeps --help fast

    found = [result for result in results if isinstance(result, ReceiptChecked)]
    return int(any(sum(result.remaining.values()) and not result.erased_again for result in found))
