from __future__ import annotations

from benchmarks.writer_lock import Costs, TransactionMeter, measured_transactions
from engine.clock import SYSTEM_CLOCK
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.sql.database import SqlDatabase
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction


async def test_a_write_holds_the_lock_for_few_answers(postgres_url: str) -> None:
    ledger = LedgerFixture(await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK))
    await ledger.add_facts("first", extraction("Ada", "Bob"))
    with measured_transactions() as meter:
        await ledger.add_facts("second", extraction("Cyd", "Dan"))
    await ledger.ledger.close()
    saved, extracted = meter.writes["Documents.save"], meter.writes["Facts.save_extraction"]
    assert (saved.count, extracted.count) == (1, 1)
    assert saved.answers <= 3  # what is there, the tokenizer, and the ids of the new rows
    assert extracted.answers <= 3  # what is replaced, the ids of names, and those of pairs with what they may join
    assert extracted.statements > 15
    assert meter.transactions.answers == sum(costs.answers for costs in meter.writes.values())
    assert 0 < saved.held <= meter.transactions.held


async def test_measuring_ends(postgres_url: str) -> None:
    write = SqlDatabase.write
    with measured_transactions() as meter:
        pass
    assert SqlDatabase.write is write
    ledger = await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK)
    await ledger.settings.set("a", 1)
    await ledger.close()
    assert meter.transactions == Costs()


def test_the_figures_of_processes_are_added_and_shared_among_documents() -> None:
    one, two = TransactionMeter(), TransactionMeter()
    one.add_write("a", Costs(count=3, answers=6, held=0.5))
    two.add_write("a", Costs(count=1, held=0.25))
    two.add_write("b", Costs(count=2, held=1.0))
    two.transactions.add(Costs(count=2, waited=1.0, held=2.0))
    one.add_json(two.to_json())
    assert one.format_table(2).splitlines()[2:] == [
        "  | transactions | 1.00 | 0.00 | 0.00 | 500.00 | 1000.00 | 0.00 | 0.00 |",
        "  | b | 1.00 | 0.00 | 0.00 | 0.00 | 500.00 | 0.00 | 0.00 |",
        "  | a | 2.00 | 0.00 | 3.00 | 0.00 | 375.00 | 0.00 | 0.00 |",
    ]
