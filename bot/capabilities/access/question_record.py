"""Learn how a question or a search of a program, or of this machine, ends, and count questions in the metrics."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bot.capabilities.asking.results import SearchResult
from bot.capabilities.history.results import HistoryResult
from bot.capabilities.results import AnswerDelta, AnswerEnd, ContextResult, PromptResult
from bot.errors import NotAllowed, TooManyRequests
from engine.errors import InvalidQuestion, NotFound
from engine.llm.offline.quoting.notices import is_closest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.capabilities.access.control import AccessControl
    from bot.capabilities.results import OperationResult
    from bot.monitoring.metrics import Metrics
    from bot.store import Subject
    from engine import Answer, Clock, Source

PROGRAM, TERMINAL = "api", "console"  # the labels of programs, and of this machine, in the metrics
LEAD_LENGTH = 1000  # characters at the beginning of an answer that say whether it shows only the closest passages
OUTCOMES = (((NotAllowed, TooManyRequests, InvalidQuestion), "refused"), (NotFound, "nothing"))


class QuestionRecord:
    """What the metrics learn of one question, each thing once."""

    def __init__(self, metrics: Metrics | None, clock: Clock, platform: str) -> None:
        self._metrics = metrics
        self._platform = platform
        self._clock = clock
        self._began = clock.monotonic()
        self._beginning = ""
        self._outcome = ""
        self._answers = 0
        self._answer: Answer | None = None
        self.cited: tuple[Source, ...] = ()
        self.shown: tuple[Source, ...] = ()  # all passages that were found, whether its answer cites them or not

    @property
    def outcome(self) -> str:
        """How it ended: answered, nothing, refused, failed or stopped."""
        return self._outcome or "stopped"

    @property
    def is_answered(self) -> bool:
        """Whether an answer was begun or given."""
        return self._answer is not None or self._answers > 0

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Record how the question ends."""
        try:
            yield
        except BaseException as error:
            self._observe_error(error)
            raise
        finally:
            self._close()

    def observe_answer(self, answer: Answer) -> None:
        """Record how long the retrieval of an answer took."""
        self._answer, self.shown = answer, answer.context.sources
        if self._metrics is not None:
            self._metrics.record_retrieval(answer.context.timings)

    def observe_result(self, result: OperationResult) -> None:
        """Record the first words of an answer, and which sources there are."""
        if isinstance(result, AnswerDelta):
            if not self._beginning and self._metrics is not None:
                self._metrics.record_first_token(self._platform, self._clock.monotonic() - self._began)
            if len(self._beginning) < LEAD_LENGTH:
                self._beginning += result.text
        elif isinstance(result, AnswerEnd):
            self._answers = 0 if result.answer else 1  # the day counts those that are kept by their rows
            self.cited = result.sources
            is_supported = bool(result.sources) and not is_closest(self._beginning)
            self._outcome = "answered" if is_supported or result.verified or result.unsearched else "nothing"
        elif isinstance(result, ContextResult):
            self.shown = result.context.sources
            self._outcome = "nothing" if result.context.is_empty else "answered"
        elif isinstance(result, SearchResult):
            self.shown = result.sources
            self._outcome = "answered" if result.hits and not result.is_similar else "nothing"
        elif isinstance(result, HistoryResult):
            self.shown = result.sources
            self._outcome = "answered" if result.steps else "nothing"
        elif isinstance(result, PromptResult):
            self._outcome = "answered"

    def _observe_error(self, error: BaseException) -> None:
        """Record that a question was refused or failed; a client that leaves ends it too."""
        if not self._outcome:
            self._outcome = next(
                (outcome for kinds, outcome in OUTCOMES if isinstance(error, kinds)),
                "failed" if isinstance(error, Exception) else "stopped",
            )

    def _close(self) -> None:
        """Record the outcome, and what the answer took."""
        if self._metrics is None:
            return
        self._metrics.record_question(self._platform, self.outcome)
        if self._answer is not None:
            self._metrics.record_usage(self._answer.usage)

    async def count_for(self, access: AccessControl, subject: Subject) -> None:
        """Add the answer, and what it took, to the day of a subject, also if its reader left before its end."""
        if self.is_answered:
            usage = self._answer.usage if self._answer is not None else ()
            await access.record_usage(subject, usage, self._answers)
