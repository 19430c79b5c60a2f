"""The messages of one answer, one for each of its parts: streamed where Slack lets us, else posted and rewritten."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.api.errors import TROUBLE, code, slowed
from adapters.slack.api.retries import lost
from adapters.slack.replies.recovery import unfinished
from adapters.slack.replies.sender import LONG, Letter
from bot.errors import PlatformError
from bot.text.splitting import parts, says_something

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.slack.context import Study
    from bot.platform.ports import Target

log = structlog.get_logger(__name__)

BEAT = 45.0  # seconds of silence after which a stream is given a sign of life; Slack ends idle ones
REWRITE = 2.0  # seconds between two rewritings of a message
PIECE = 3000  # characters of the pieces of a text that Slack finds too long
OPEN = "streaming_state_conflict"
ENDED = "message_not_in_streaming_state"
UNCHANGEABLE = frozenset(("message_not_found", "cant_update_message", "edit_window_closed"))


@dataclass(slots=True)
class Said:
    """A message. `text`: what it shows; None if nobody knows. `more`: what did not fit in it."""

    ts: str
    text: str | None
    streaming: bool
    at: float
    more: list[str] = field(default_factory=list)

    @property
    def ids(self) -> tuple[str, ...]:
        """The message and what follows it."""
        return (self.ts, *self.more)

    def grows_to(self, text: str) -> bool:
        """Whether this text is only a longer one, in a stream."""
        return self.streaming and self.text is not None and text.startswith(self.text)


class Pages:
    """`target.mark`: what a former run began, as `mark` gives it."""

    def __init__(self, target: Target, study: Study) -> None:
        self._target = target
        self._study = study
        self._channel = target.place.channel
        self._root = target.place.thread or target.message
        self._unsure = False  # a message may have been begun that nobody told us of
        self._marked = [ts for ts in target.mark.partition(":")[2].split(",") if ts]
        self.said: list[Said] = []
        study.taken.update(self._marked)

    @property
    def mark(self) -> str:
        """The channel and the ids of the messages: `C1:1700000000.000100,1700000009.000200`."""
        ids = [ts for said in self.said for ts in said.ids]
        return f"{self._channel}:{','.join(ids)}" if ids else self._target.mark

    async def recover(self) -> None:
        """Find what a former run has begun."""
        found: Sequence[str] = ()
        try:
            found = await self._traces()
        except PlatformError as error:
            log.warning("thread_not_searched", error=str(error))
        for ts in [*self._marked, *(ts for ts in found if ts not in self._marked)]:
            self._note(Said(ts, None, streaming=True, at=self._now - REWRITE))

    def forget(self) -> None:
        """The answer is finished: its messages are no concern of other replies any more."""
        self._study.taken.difference_update(self._marked, *(said.ids for said in self.said))
        self._study.begun.pop(self._target.answer, None)

    # While the answer grows: never waiting for a turn.

    async def bring(self, number: int, letter: Letter, words: str, *, last: bool) -> bool:
        """Bring a message as near to this as Slack allows now; whether it is there. A stream before the last ends."""
        if number == len(self.said) and not await self._adopt():
            return await self._begin(number, letter, words, last=last)
        said = self.said[number]
        if said.grows_to(letter.text) and not last and self._study.pace.stops.wait <= 0:
            return await self._stop(said, letter, words)
        if said.text == letter.text:
            return True
        if said.grows_to(letter.text):
            return self._study.pace.appends.grab() and await self._append(said, letter)
        if self._now - said.at < REWRITE or self._study.pace.updates.wait > 0:
            return False
        await self.rewrite(said, letter)
        return True

    async def beat(self, words: str) -> None:
        """A sign of life for streams that have long been silent."""
        for said in self.said:
            silent = said.streaming and said.text is not None and self._now - said.at >= BEAT
            if silent and self._study.pace.appends.grab():
                said.at = self._now
                await self._study.streams.beat(self._channel, said.ts, words)

    async def _begin(self, number: int, letter: Letter, words: str, *, last: bool) -> bool:
        """The first words of a message: as a stream if it will grow, else posted."""
        ts = None
        self._unsure = True
        try:
            if self._root and last:
                ts = await self._study.streams.start(self._target, letter.text, "" if number else words)
        except TROUBLE as error:
            log.warning("stream_may_have_begun", error=code(error))
            if await self._adopt():
                return False
        self._unsure = False
        if ts is not None:
            self._note(Said(ts, letter.text, streaming=True, at=self._now))
        elif not says_something(letter.text) or self._study.pace.posts(self._channel).wait > 0:
            return False  # a notification shows the first words of a post
        else:
            await self._post(letter)
        return True

    async def _append(self, said: Said, letter: Letter) -> bool:
        """Let a stream grow; one that has ended, or of which nobody knows what it shows, is rewritten instead."""
        before, said.text = said.text or "", None  # nobody knows, if this is cut short
        try:
            await self._study.streams.append(self._channel, said.ts, letter.text[len(before) :])
        except TROUBLE as error:
            pause = slowed(error)
            if pause is not None:
                self._study.pace.appends.close(pause)
                said.text = before
                return False
            log.info("stream_ended", error=code(error))
            said.streaming = code(error) != ENDED
            await self.rewrite(said, letter)
            return True
        said.text, said.at = letter.text, self._now
        return True

    # For good: whatever it takes.

    async def complete(self, number: int, letter: Letter, words: str) -> None:
        """A message in its last form. Raises what Slack refuses."""
        if letter.end is not None and letter.text and not letter.fits:
            await self.complete(number, replace(letter, end=None), words)
            said = self.said[number]
            said.more.append(await self._follow(replace(letter, text="")))
            self._note_mark()
        elif number == len(self.said) and not await self._adopt():
            await self._post(letter)
        elif not await self._is(self.said[number], letter, words):
            await self.rewrite(self.said[number], letter)

    async def _is(self, said: Said, letter: Letter, words: str) -> bool:
        """Whether the message has its last form, or takes it by growing."""
        if said.grows_to(letter.text):
            return await self._stop(said, letter, words)
        return not said.streaming and said.text == letter.text and letter.end is None and not said.more

    async def _stop(self, said: Said, letter: Letter, words: str) -> bool:
        """End a stream with the rest; False if it has to be rewritten."""
        rest, said.text = letter.text[len(said.text or "") :], None
        words = words if said is self.said[0] else ""
        try:
            await self._study.streams.stop((self._channel, said.ts), rest, words, letter)
        except TROUBLE as error:
            log.info("stream_not_ended", error=code(error))
            said.streaming = code(error) != ENDED
            return False
        said.text, said.streaming, said.at = letter.text, False, self._now
        return True

    async def rewrite(self, said: Said, letter: Letter, *, urgent: bool = False) -> None:
        """Show this in a message, whatever it showed before; what does not fit follows below."""
        if said.streaming:
            await self._break_off(said, urgent=urgent)
        for ts in said.more:
            await self._delete(ts)
        said.more.clear()
        try:
            await self._study.letters.update(self._channel, said.ts, letter, urgent=urgent)
        except SlackApiError as error:
            if code(error) == OPEN:
                await self._break_off(said, urgent=urgent)
                await self._study.letters.update(self._channel, said.ts, letter, urgent=urgent)
            elif code(error) in UNCHANGEABLE:
                said.ts = await self._follow(letter)
            elif code(error) in LONG:
                first, *rest = _pieces(letter)
                await self._study.letters.update(self._channel, said.ts, first)
                said.more += [await self._follow(piece) for piece in rest]
            else:
                raise
        said.text, said.at = letter.text, self._now
        self._note_mark()

    async def shorten(self, length: int) -> None:
        """Delete the messages that the answer does not need any more."""
        for said in self.said[length:]:
            if said.streaming:
                await self._break_off(said)
            for ts in said.ids:
                await self._delete(ts)
        del self.said[length:]

    async def _post(self, letter: Letter) -> None:
        """Post a message; if nobody knows whether it was, look."""
        self._unsure = True
        try:
            ts = await self._study.letters.post(self._channel, self._root, letter)
        except TROUBLE as error:
            if code(error) in LONG:
                first, *rest = _pieces(letter)
                said = Said(await self._follow(first), letter.text, streaming=False, at=self._now)
                said.more += [await self._follow(piece) for piece in rest]
                self._note(said)
                return
            if not lost(error):
                self._unsure = False
                raise
            log.warning("message_may_be_posted", error=code(error))
            if await self._adopt():
                await self.rewrite(self.said[-1], letter)
                return
            ts = await self._study.letters.post(self._channel, self._root, letter)
        self._note(Said(ts, letter.text, streaming=False, at=self._now))

    async def _follow(self, letter: Letter) -> str:
        ts = await self._study.letters.post(self._channel, self._root, letter)
        self._study.taken.add(ts)
        return ts

    async def _break_off(self, said: Said, *, urgent: bool = False) -> None:
        try:
            await self._study.streams.break_off(self._channel, said.ts, urgent=urgent)
        except TROUBLE as error:
            log.info("stream_had_ended", error=code(error))
        said.streaming = False

    async def _delete(self, ts: str) -> None:
        try:
            await self._study.reader.chat_delete(channel=self._channel, ts=ts)
        except SlackApiError as error:
            if code(error) != "message_not_found":
                raise

    # What may have been begun.

    async def _traces(self) -> list[str]:
        return await unfinished(self._study.reader, self._target, self._study.us, self._study.taken)

    async def _adopt(self) -> bool:
        """Take over a message whose beginning was not confirmed, if there may be one."""
        if not self._unsure:
            return False
        for ts in (await self._traces())[:1]:
            self._note(Said(ts, None, streaming=True, at=self._now - REWRITE))
            return True
        return False

    def _note(self, said: Said) -> None:
        """Remember a message as ours."""
        self._unsure = False
        self.said.append(said)
        self._note_mark()

    def _note_mark(self) -> None:
        self._study.taken.update(ts for said in self.said for ts in said.ids)
        self._study.begun[self._target.answer] = self.mark

    @property
    def _now(self) -> float:
        return self._study.pace.clock()


def _pieces(letter: Letter) -> list[Letter]:
    """A letter as several: what stands below comes with the last."""
    texts = parts(letter.text, PIECE)
    return [replace(letter, text=text, end=None) for text in texts[:-1]] + [replace(letter, text=texts[-1])]
