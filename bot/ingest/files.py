"""Ingest shared files: fetch, parse in a sandbox, add, and confirm with a reaction.

A file shared in two rooms is two documents. Files shared with the bot alone go to the person's own space.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.errors import PermissionDenied, PlatformError
from bot.i18n import SOURCE_LANGUAGE, gettext, use_language
from bot.ingest.conversations import is_edited
from bot.ingest.shared_file import HINTS, SENTENCES, SharedFiles, build_key, find_failed_family, find_family
from bot.permissions.audience import home_space, personal_space
from bot.platform.models import Card, Location, Message
from bot.platform.ports import ReplyTarget
from bot.store import MESSAGES_ONLY, FileRecord, UnreadFile
from bot.texts.omissions import describe_gaps, describe_omissions, is_worth_a_notice
from engine import Document, Scope
from engine.errors import DocumentTooLarge, InvalidDocument, NoTextFormat, NotFound
from engine.parsers.dates import plausible_time
from engine.parsers.sandbox.origins import OriginLimit
from engine.text.cleanup import shorten_name

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Sequence
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments
    from bot.platform.events import CommandInvoked, QuestionAsked
    from bot.platform.models import Upload
    from bot.platform.ports import Reaction
    from engine import DocumentStatus, ParserLimits

log = structlog.get_logger(__name__)

MAX_CONCURRENT_FILES = 4  # files in memory
MAX_FILES_OF_A_CHANNEL = 2  # of these
POLL_SECONDS = 0.1  # seconds between two status checks of a document
CONFIRM_TIMEOUT_SECONDS = 600.0  # seconds to wait for a file; its reaction stays after that


@dataclass(frozen=True, slots=True)
class RejectedFile:
    """A file that was not ingested, or only the beginning of it, with the reason as a sentence.

    `family`: as in bot/ingest/shared_file.py; empty for a document that is broken, locked or too large.
    """

    name: str
    reason: str
    is_partial: bool = False
    family: str = ""


FileResult = FileRecord | RejectedFile


class FileIngest:
    """Ingests files, parsed in separate processes. Callers do not hold the lock of the room."""

    def __init__(self, context: BotContext, documents: ConversationDocuments) -> None:
        self._context = context
        self._documents = documents
        self._parser = context.engine_context.parser
        self._gate = asyncio.Semaphore(MAX_CONCURRENT_FILES)
        self._channels = OriginLimit(MAX_FILES_OF_A_CHANNEL)

    async def ingest_and_confirm(self, message: Message) -> list[FileResult]:
        """Ingest the files of a message, and confirm that or report why not."""
        outcomes = await self.ingest(message)
        await self.confirm(message, outcomes)
        return outcomes

    async def ingest(
        self, message: Message, *, with_question: bool = False, quiet: bool = False, is_explicit: bool = False
    ) -> list[FileResult]:
        """Make the files of a message documents; durable when it returns, searchable a little later.

        `with_question`: they came with one and are read even in channels that are not. `quiet`: without reactions.
        `is_explicit`: the author asked for it, even if they had opted out at that time.
        Raises PlatformError for a temporary failure.
        """
        if not message.uploads or message.own:
            return []
        if message.by_bot and not await self._context.indexes_bot_messages(message.location.room):
            return []
        was_announced = await self._context.store.channels.is_announced(message.location.room)
        link = self._context.platform_for(message.location).message_link(message.location, message.id)
        shared = SharedFiles(
            message, link, with_question=with_question, is_explicit=is_explicit, was_announced=was_announced
        )
        if await self.get_rejection(shared):
            return []
        if not quiet and (_may_be_documents(message) or await self._is_given(message)):
            await self._set_reaction(message, "working")
        return await self._ingest_uploads(shared, message.uploads)

    async def ingest_from_command(
        self, event: QuestionAsked | CommandInvoked, time: datetime, *, private: bool
    ) -> list[FileResult]:
        """Ingest the files of a command; `private` ones go to the person's own space."""
        location, person = event.location, event.person
        message = Message(event.id, location, person, "", time, event.uploads)
        space = personal_space(location.platform, location.workspace, person) if private else ""
        was_announced = not space and await self._context.store.channels.is_announced(location.room)
        shared = SharedFiles(message, space=space, with_question=True, is_explicit=True, was_announced=was_announced)
        reason = await self.get_rejection(shared) or ("" if space or event.may_write else gettext(texts.CANNOT_WRITE))
        if reason:
            return [RejectedFile(upload.name, reason) for upload in event.uploads]
        return await self._ingest_uploads(shared, event.uploads)

    async def confirm(self, message: Message, outcomes: Sequence[FileResult]) -> None:
        """Add a reaction to a message once its files are searchable, or tell its author alone why they are not.

        Files in which people rarely write, such as pictures, get no sign and no word unless the bot was given them.
        """
        if not outcomes:
            return
        filed = [outcome for outcome in outcomes if isinstance(outcome, FileRecord)]
        if not await self.wait_for_indexed([outcome.document for outcome in filed], CONFIRM_TIMEOUT_SECONDS):
            log.warning("ingest.file_confirmation_timed_out", channel=message.location.room)
            return
        names = {upload.id: upload.name for upload in message.uploads}
        refused = [outcome for outcome in outcomes if isinstance(outcome, RejectedFile)]
        refused += [
            RejectedFile(names.get(outcome.upload_id, outcome.upload_id), reason)
            for outcome in filed
            if (reason := await self._get_failure(outcome))
        ]
        is_given = await self._is_given(message)
        told = [outcome for outcome in refused if is_given or not outcome.family]
        if told or any(isinstance(outcome, FileRecord) for outcome in outcomes):
            await self._set_reaction(message, "failed" if told else "done")
        elif _may_be_documents(message):
            await self._set_reaction(message, None)
        lines = [_word_rejection(outcome) for outcome in told]
        lines += await self.describe_gaps(
            (outcome.document, names.get(outcome.upload_id, outcome.upload_id)) for outcome in filed
        )
        if lines:
            await self._post_privately(message, lines)

    async def report_failure(self, message: Message, error: Exception) -> None:
        """Tell the author of a message that its files could not be fetched, and record that."""
        shared, reason, is_given = SharedFiles(message), texts.describe_error(error), await self._is_given(message)
        told = [upload for upload in message.uploads if is_given or not find_family(upload)]
        if told:
            await self._set_reaction(message, "failed")
            await self._post_privately(message, [texts.file_refused(upload.name, reason) for upload in told])
        for upload in message.uploads:
            await self._record_unread(shared, upload, error)

    async def describe_gaps(self, named: Iterable[tuple[str, str]]) -> list[str]:
        """A sentence for each of these documents (with the names of their files) of which something was not read."""
        found = [(name, await self._get_stage(document)) for document, name in named]
        return [
            describe_gaps(name, describe_omissions(stage))
            for name, stage in found
            if stage and is_worth_a_notice(stage)
        ]

    async def wait_for_indexed(self, documents: Iterable[str], seconds: float) -> bool:
        """Wait until these documents are searchable or have failed; false on a timeout."""
        try:
            async with asyncio.timeout(seconds):
                for document in documents:
                    while await self._is_pending(document):  # noqa: ASYNC110 - the engine sends no news of a document
                        await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            return False
        return True

    async def get_rejection(self, shared: SharedFiles) -> str:
        """Why files may not be ingested, empty if they may; checked before fetching and after parsing."""
        message, location, store = shared.message, shared.message.location, self._context.store
        written = None if shared.is_explicit else message.time
        if notice := await self._context.find_opt_out(location, message.author, written):
            return notice
        announced = await store.channels.is_announced(location.room)
        if shared.was_announced and not announced:
            return gettext(texts.CHANNEL_NOT_INDEXED)  # the bot was removed in the meantime
        if shared.is_link and (reason := await self._get_link_rejection(message)):
            return reason
        if shared.with_question or (await self._context.audience.get_channel(location)).kind == "direct":
            return ""
        chosen = await self._context.get_channel_settings(location.room)
        if not (announced and chosen.ingest):
            return gettext(texts.CHANNEL_NOT_INDEXED)
        return gettext(texts.FILES_NOT_READ) if chosen.content == MESSAGES_ONLY and not shared.is_link else ""

    async def _get_link_rejection(self, message: Message) -> str:
        """Why the pages that a message links to may not be ingested, empty if they may."""
        if not (await self._context.get_channel_settings(message.location.room)).links:
            return gettext(texts.LINKS_NOT_READ)
        known = await self._context.store.messages.get(message.location.room, message.id)
        return "" if known and not is_edited(message, known.digest) else gettext(texts.MESSAGE_CHANGED)

    async def _ingest_uploads(self, shared: SharedFiles, uploads: Sequence[Upload]) -> list[FileResult]:
        """Ingest files one after another; an edit of their message meanwhile can see which are in work."""
        with self._documents.uploads_in_work.enter([shared.build_record(upload) for upload in uploads]):
            return [result for upload in uploads for result in await self._ingest_upload(shared, upload)]

    async def _ingest_upload(self, shared: SharedFiles, upload: Upload) -> list[FileResult]:
        """Ingest a file, its further parts and its attachments, each as a document; the last may be a rejection."""
        results: list[FileResult] = []
        if upload.kind.startswith("image/") and (stored := await self._find_stored(shared.build_record(upload))):
            return [stored]  # a repeated event does not have it described again
        room = shared.message.location.room
        try:
            async with (
                self._channels.enter(room),
                self._gate,
                aclosing(self._parse_upload(shared, upload)) as documents,
            ):
                async for filed, document in documents:
                    reason = await self.add_document(filed, document, shared)
                    found: FileResult = RejectedFile(upload.name, reason) if reason else filed
                    results += [] if found in results else [found]
                    if reason:
                        break
        except (InvalidDocument, PermissionDenied) as error:
            results.append(await self._reject(shared, upload, error, is_partial=bool(results)))
        else:
            await self._context.store.unread_files.delete(shared.build_record(upload).document)
        if any(isinstance(result, FileRecord) for result in results):
            await self._context.store.files.record_applied(shared.build_record(upload))
        return results

    async def _reject(self, shared: SharedFiles, upload: Upload, error: Exception, *, is_partial: bool) -> RejectedFile:
        """Record a file that could not be read, or only its beginning."""
        where, name = shared.build_record(upload).room, type(error).__name__
        log.info("ingest.file_rejected", channel=where, kind=upload.kind, size=upload.size, error=name)
        await self._record_unread(shared, upload, error)
        family = "" if is_partial else find_failed_family(upload, error)
        lacks = isinstance(error, PermissionDenied) and error.permissions
        reason = (
            await self._context.describe_error(error, shared.message.location) if lacks else texts.describe_error(error)
        )
        return RejectedFile(upload.name, reason, is_partial, family)

    async def _record_unread(self, shared: SharedFiles, upload: Upload, error: Exception) -> None:
        """List a file as not read where its readers find it, unless it was deleted or may not be read at all."""
        filed, unread = shared.build_record(upload), self._context.store.unread_files
        location, message = shared.message.location, shared.message
        async with self._documents.lock(filed.room):
            if await self._is_deleted(filed, location) or await self.get_rejection(shared):
                return
            space = shared.space or await self._resolve_space(location)
            reason = _word_for_all_readers(upload, error, self._context.engine_context.parser_limits)
            place = (filed.document, space, filed.room, message.id, upload.id, message.author, message.time)
            await unread.save(UnreadFile(*place, shorten_name(upload.name), find_failed_family(upload, error), reason))
        if await self._is_deleted(filed, location):  # as in `add_document`
            await unread.delete(filed.document)

    async def _parse_upload(self, shared: SharedFiles, upload: Upload) -> AsyncGenerator[tuple[FileRecord, Document]]:
        limits, message = self._context.engine_context.parser_limits, shared.message
        _check_upload(upload, limits)
        data = await self._context.platform_for(message.location).fetch_file(
            message.location, upload, limits.max_file_size
        )
        first = shared.build_record(upload)
        async with aclosing(self._parser.stream(upload.name, data, origin=message.location.room)) as documents:
            async for parsed in documents:
                filed = replace(first, document=f"{first.document}#{parsed.key}") if parsed.key else first
                time = plausible_time(parsed.time, message.time, parsed.day) or message.time
                title = parsed.title if parsed.key else upload.name
                place = (filed.document, shared.space, filed.room, title, parsed.passages, time, shared.link)
                yield filed, Document(*place, omissions=parsed.omissions, coverage=parsed.coverage)

    async def add_document(self, filed: FileRecord, document: Document, shared: SharedFiles) -> str:
        """Add a file to the engine in the current space of its room, or return why it is left out.

        A file that was deleted in the meantime is left out silently. The caller records that all of it was added.
        """
        location = shared.message.location
        async with self._documents.lock(filed.room):
            if await self._is_deleted(filed, location):
                return ""
            if reason := await self.get_rejection(shared):
                return reason
            space = document.space or await self._resolve_space(location)
            await self._context.store.files.insert(filed)
            if await self._context.store.files.get(filed.document) is None:
                return texts.opted_out_notice(self._context.traits_of(location.platform))
            await self._context.engine_context.engine.documents.add(replace(document, space=space))
            await self._documents.note_watched(location, [filed])
        if await self._is_deleted(filed, location):  # deleted in all rooms, which takes no lock of a room
            await self._documents.forget_document(filed.document)
        return ""

    async def _find_stored(self, filed: FileRecord) -> FileRecord | None:
        stored = await self._context.store.files.get(filed.document)
        return stored if stored is not None and stored.is_applied else None

    async def _resolve_space(self, location: Location) -> str:
        """The space of a channel's files; a channel that is not read otherwise is watched for audience changes."""
        channel = await self._context.audience.get_channel(location)
        if channel.kind != "direct":
            await self._context.store.channels.upsert(location.without_thread, channel.name)
        return home_space(channel)

    async def _is_deleted(self, filed: FileRecord, location: Location) -> bool:
        """Whether the file, what it is a part of, or its message was deleted before it was ingested."""
        deleted = self._context.store.messages.find_tombstones
        everywhere = await deleted(f"{location.platform}:{location.workspace}:", [filed.upload_id], filed.time)
        if everywhere or await deleted(location.room, [filed.upload_id], filed.time):
            return True  # a file that was shared again later is not deleted
        whole = build_key(filed.room, filed.message_id, filed.upload_id)
        return bool(await deleted(filed.room, [filed.message_id, filed.document, whole]))

    async def _is_pending(self, document: str) -> bool:
        stage = await self._get_stage(document)
        return stage is not None and stage.status == "pending"

    async def _get_failure(self, filed: FileRecord) -> str:
        """Why an accepted document is not searchable; the log of the extraction has details of the model."""
        stage = await self._get_stage(filed.document)
        if stage is None or stage.status != "failed":
            return ""
        log.warning("ingest.file_extraction_failed", channel=filed.room, document=filed.document)
        return gettext(texts.EMBEDDING_REFUSED)

    async def _get_stage(self, document: str) -> DocumentStatus | None:
        """The progress of a document; None if it was deleted."""
        room = document.partition(":file:")[0]
        try:
            return await self._context.engine_context.engine.documents.get_status(
                document, Scope(frozenset(), frozenset({room}))
            )
        except NotFound:
            return None

    async def _is_given(self, message: Message) -> bool:
        """Whether somebody gave the files of a message to the bot on purpose."""
        return message.addressed or await self._context.is_direct(message.location)

    async def _set_reaction(self, message: Message, sign: Reaction | None) -> None:
        try:
            await self._context.platform_for(message.location).set_reaction(message.location, message.id, sign)
        except PlatformError as error:
            self._context.denials.note(error, message.location)
            log.warning("ingest.reaction_failed", channel=message.location.room, error=type(error).__name__)

    async def _post_privately(self, message: Message, lines: Iterable[str]) -> None:
        text = "\n".join(lines)
        target = ReplyTarget("", message.location, message.author, message.id, private=True)
        try:
            await self._context.platform_for(message.location).send_private(target, Card(text))
        except PlatformError as error:
            log.warning("ingest.rejection_notice_failed", channel=message.location.room, error=type(error).__name__)


def _word_rejection(refused: RejectedFile) -> str:
    return (texts.file_read_in_part if refused.is_partial else texts.file_refused)(refused.name, refused.reason)


def _may_be_documents(message: Message) -> bool:
    """Whether any file of a message may be a document, by its name and kind."""
    return not all(find_family(upload) for upload in message.uploads)


def _word_for_all_readers(upload: Upload, error: Exception, limits: ParserLimits) -> str:
    """Why a file was not read, in the language of the source, so that each reader sees it in their own."""
    with use_language(SOURCE_LANGUAGE):
        try:
            _check_upload(upload, limits)
        except InvalidDocument as found:
            error = found
        return str(error) if isinstance(error, InvalidDocument) else texts.describe_error(error)


def _check_upload(upload: Upload, limits: ParserLimits) -> None:
    """Reject a file before it is fetched. Raises DocumentTooLarge and NoTextFormat."""
    family, limit = find_family(upload), limits.max_file_size
    if family and not (family == "picture" and (limits.ocr_program or limits.describes_pictures)):
        raise NoTextFormat(SENTENCES[family], hint=HINTS.get(family, ""))
    if upload.size > limit:
        sentence = gettext("It has {size} MiB, and I read files of up to {limit} MiB.")
        raise DocumentTooLarge(sentence.format(size=round(upload.size / 2**20), limit=round(limit / 2**20)))
