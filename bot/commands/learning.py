"""Taking in what a person points at: files that come with the command, or a message by its link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import wording
from bot.chat import Card
from bot.commands.addresses import is_address
from bot.commands.forgetting import message_at
from bot.commands.plain import plain
from bot.filing import Refused
from engine.errors import BadQuestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.commands.call import Call


async def learn(call: Call) -> Card:
    """Read the files of the command; of a message without files, say whether it is known."""
    if call.called.uploads:
        return await _files(call)
    if not is_address(call.words):
        raise BadQuestion("There is no file.", hint="Share one in a channel that I read, or with me alone.")
    found = await message_at(call, call.words)
    if found is not None and found[1].document:
        return Card("I know that message already.")
    how = f"{call.example('settings ingest on')} and {call.example('backfill')}, by a manager, change that"
    return Card(f"I do not know that message: I read what is said where reading is switched on; {how}.")


async def _files(call: Call) -> Card:
    filing, uploads = call.parts.listening.filing, call.called.uploads
    outcomes = await filing.learn(call.called, call.now)
    refused = [each for each in outcomes if isinstance(each, Refused)]
    documents = [each.document for each in outcomes if not isinstance(each, Refused)]
    soon = await filing.wait(documents, call.settings.file_wait)
    kept_back = {each.name for each in refused}
    read = [each.name for each in uploads if each.name not in kept_back]
    lines = [wording.refused_file(each.name, each.reason) for each in refused]
    return Card("\n".join([_read(read, soon=soon), *lines] if read else lines))


def _read(names: Sequence[str], *, soon: bool) -> str:
    listed = ", ".join(f"**{plain(name)}**" for name in names)
    return f"I have read {listed}: ask me about it." if soon else f"I am still reading {listed}."
