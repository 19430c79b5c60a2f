"""Show a person what is stored about them, and give it to them as a file."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bot.capabilities.erasure.requests import ListReceipts, VerifyReceipt
from bot.capabilities.maintenance.requests import MyData
from bot.capabilities.requests import ExportMyData, GetMyData
from bot.capabilities.results import ExportLine, Listing, ReceiptChecked, ReceiptFound
from bot.i18n import N_, gettext
from bot.ingest.erasure.receipt import dump_receipt
from bot.platform.models import Button, Card, Picture
from bot.text.format import format_list, pluralize
from bot.text.markdown import escape_markdown
from bot.texts import opted_out_notice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.capabilities.maintenance.requests import ChannelCount
    from bot.commands.context import CommandContext

COMMAND = "my-data"
RECEIPTS = "receipts"
DOWNLOAD, DOWNLOAD_BUTTON = "download", N_("Download")
FILE_NAME = "my-data.jsonl"
MAX_CHANNELS = 20  # that are listed; the messages of further ones are counted
MAX_BYTES = 8_000_000  # of a file that every platform takes
MAX_LISTED = 20


async def my_data_command(call: CommandContext) -> Card:
    """Count what is stored about the caller, or give it to them (`download`), or receipts of what was forgotten."""
    word, _, rest = call.arguments.partition(" ")
    if word.casefold() == RECEIPTS:
        return await show_receipts(call, rest.strip())
    if call.arguments.casefold() == DOWNLOAD:
        return await _download(call)
    found = await call.get_result(GetMyData(), MyData)
    counts = dict(found.records)
    lines = [
        f"**{gettext('What I know about you')}**",
        *_format_channels(found.channels),
        *_format_counts(found.files, counts),
    ]
    if found.topics:
        topics = format_list([escape_markdown(topic) for topic in found.topics])
        lines.append(gettext("- You are asked as an expert about {topics}.").format(topics=topics))
    if len(lines) == 1:
        lines.append(gettext("Nothing."))
    lines += ["", _format_reading(call, is_read=found.is_read)]
    button = Button(gettext(DOWNLOAD_BUTTON), COMMAND, DOWNLOAD)
    return Card("\n".join(lines), buttons=(button,))


def _format_channels(channels: Sequence[ChannelCount]) -> list[str]:
    """The messages by channel; those that the person cannot read now are not named."""
    named = [channel for channel in channels if channel.name][:MAX_CHANNELS]
    others = sum(channel.messages for channel in channels) - sum(channel.messages for channel in named)
    lines = [
        gettext("- {messages} in #{channel}").format(
            messages=pluralize(channel.messages, "{count} message", "{count} messages"),
            channel=escape_markdown(channel.name),
        )
        for channel in named
    ]
    if others:
        counted = pluralize(others, "{count} message", "{count} messages")
        lines.append(gettext("- {messages} elsewhere").format(messages=counted))
    return lines


def _format_counts(files: int, counts: Mapping[str, int]) -> list[str]:
    """The other things that are stored, each with its number."""
    number = Counter(counts)
    unread, asked, votes = number["unread_file"], number["question"], number["vote"]
    verified, digests, tokens = number["verified_answer"], number["digest"], number["access_token"]
    entries, shared, sources = number["audit_entry"], number["shared_answer"], number["source"]
    kinds = (
        (files, pluralize(files, "{count} file", "{count} files")),
        (unread, pluralize(unread, "{count} file that I could not read", "{count} files that I could not read")),
        (asked, pluralize(asked, "{count} question to me", "{count} questions to me")),
        (votes, pluralize(votes, "{count} vote on an answer", "{count} votes on answers")),
        (shared, pluralize(shared, "{count} answer that you share", "{count} answers that you share")),
        (verified, _count_verified(verified)),
        (digests, pluralize(digests, "{count} scheduled digest", "{count} scheduled digests")),
        (sources, pluralize(sources, "{count} source that you added", "{count} sources that you added")),
        (tokens, pluralize(tokens, "{count} access token or login", "{count} access tokens and logins")),
        (entries, pluralize(entries, "{count} entry of the audit log", "{count} entries of the audit log")),
    )
    return [f"- {sentence}" for count, sentence in kinds if count]


def _count_verified(count: int) -> str:
    return pluralize(
        count,
        "{count} verified answer that you asked for, wrote or checked",
        "{count} verified answers that you asked for, wrote or checked",
    )


def _format_reading(call: CommandContext, *, is_read: bool) -> str:
    if not is_read:
        return opted_out_notice(call.traits)
    return gettext("{command} deletes what you wrote, shared and asked, and stops me from reading more.").format(
        command=call.format_example("forget-me")
    )


async def _download(call: CommandContext) -> Card:
    """What is stored as a file, which the caller alone gets."""
    results = await call.perform(ExportMyData())
    data = "".join(f"{result.text}\n" for result in results if isinstance(result, ExportLine)).encode()
    if len(data) > MAX_BYTES:
        return Card(gettext("That is too much for a file here. The Documents page of my web address has it."))
    about = gettext("What I know about you, one record a line (JSON Lines).")
    return Card(about, picture=Picture(FILE_NAME, data, about))


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
