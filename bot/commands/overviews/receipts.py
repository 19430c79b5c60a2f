"""Show a person the receipts of what they had forgotten, and give them one as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.erasure.requests import ListReceipts, VerifyReceipt
from bot.capabilities.results import Listing, ReceiptChecked, ReceiptFound
from bot.i18n import gettext
from bot.ingest.erasure.receipt import dump_receipt
from bot.platform.models import Card, Picture
from bot.text.markdown import escape_markdown

if TYPE_CHECKING:
    from bot.commands.context import CommandContext

MAX_LISTED = 20


async def show_receipts(call: CommandContext, words: str) -> Card:
    """List the caller's receipts, or give them one (`words`: its id) as a file, compared with what is stored."""
    if words:
        return await _give_receipt(call, words)
    listing = await call.get_result(ListReceipts(), Listing)
    if not listing.rows:
        return Card(gettext("You have no receipts: nothing was forgotten for you yet."))
    lines = [f"- `{id_}` · {time} · {escape_markdown(what)}" for id_, time, _, what in listing.rows[:MAX_LISTED]]
    more = gettext("{command} sends one as a file, and says whether anything of it is stored.").format(
        command=call.format_example(f"my-data receipts {listing.rows[0][0]}")
    )
    return Card("\n".join([f"**{gettext('Receipts of what was forgotten')}**", *lines, "", more]))


async def _give_receipt(call: CommandContext, id_: str) -> Card:
    found = await call.get_result(ListReceipts(id_), ReceiptFound)
    checked = await call.get_result(VerifyReceipt(id_), ReceiptChecked)
    data = dump_receipt(found.receipt).encode()
    return Card(escape_markdown(checked.text), picture=Picture(f"receipt-{found.receipt['id']}.json", data, found.text))
