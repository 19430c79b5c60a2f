"""The table of answers that are written anew because a source of them changed."""

from __future__ import annotations

from engine.storage.sql.schema import INT, TEXT, Column, Index, Table, columns

# What came of the latest change to a source of a posted answer; the words are those of RenewalOutcome.
# day: ISO date (UTC); tokens: that new texts of the answer cost on that day.
ANSWER_RENEWAL = Table(
    "answer_renewal",
    (
        Column("answer", TEXT, primary=True, references="answer ON DELETE CASCADE"),
        *columns(TEXT, "platform", "workspace", "day", "outcome"),
        Column("tokens", INT, default=0),
    ),
    (Index("answer_renewal_day", "platform, workspace, day"),),
    strict=True,
)
