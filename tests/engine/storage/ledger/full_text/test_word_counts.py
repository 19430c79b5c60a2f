from __future__ import annotations

from functools import partial
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.storage.ledger.full_text import word_counts
from engine.storage.ledger.full_text.update import FullTextUpdate
from engine.storage.ledger.full_text.word_counts import IndexState, WordCounts
from engine.storage.ledger.work.settings import Settings
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, only_sqlite
from tests.support.engine_fixture import doc

START = IndexState(1_000, 100, 2, 3)


def never(_: int) -> int:
    raise AssertionError("nothing has to be counted")


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30), st.integers(1, 40), st.integers(1, 40))
def test_what_is_known_is_true_whatever_came_or_went(changes: list[tuple[bool, bool]], limit: int, asked: int) -> None:
    counts, held, state = WordCounts(), 20, START
    history = [(held, state)]
    for is_added, has_word in changes:  # each chunk is added or goes, and has the word or not
        held += has_word * (1 if is_added else -1 if held else 0)
        state = state._replace(added=state.added + is_added, gone=state.gone + (not is_added))
        history.append((held, state))
    counts.reaches("word", "", limit, START, lambda most: min(most, 20))
    for each, moment in (*history, *history[::-1]):
        assert counts.reaches("word", "", asked, moment, partial(min, each)) == (each >= asked)


def test_an_equal_question_counts_nothing_again() -> None:
    counts = WordCounts()
    assert counts.reaches("ferry", "", 10, START, lambda _: 10)
    assert counts.reaches("ferry", "", 10, START, never)
    assert not counts.reaches("sail", "", 320, START, lambda _: 100)
    assert not counts.reaches("sail", "", 320, START._replace(added=1_200), never)
    assert counts.reaches("sail", "", 90, START._replace(gone=110), never)


@pytest.mark.parametrize("changed", [START._replace(moves=9), START._replace(reindexed=9)])
def test_a_move_or_another_index_counts_again(changed: IndexState) -> None:
    counts = WordCounts()
    assert counts.reaches("ferry", "", 10, START, lambda _: 500)
    assert not counts.reaches("ferry", "", 10, changed, lambda _: 0)


def test_scopes_are_counted_apart_and_old_counts_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_counts, "MAX_COUNTS", 2)
    counts, counted = WordCounts(), count()
    for scope in ("a", "b", "a", "c", "a", "b"):
        counts.reaches("ferry", scope, 1, START, lambda _: next(counted))
    assert next(counted) == 4


@only_sqlite
async def test_the_state_tells_what_was_added_is_gone_and_was_indexed_again(ledger: LedgerFixture) -> None:
    before = await ledger.read(IndexState.read)
    await ledger.add(doc("a", "Die Häuser der Fähren."))
    await ledger.add(doc("b", "Die Häuser der Segel."))
    await ledger.forget("a")
    after = await ledger.read(IndexState.read)
    assert (after.added - before.added, after.gone - before.gone) == (2, 1)
    await ledger.ledger.write(lambda db: db.execute("UPDATE chunk SET stems = ''"))
    await ledger.ledger.write(FullTextUpdate.stem_next_batch)
    assert (await ledger.read(IndexState.read)).reindexed > after.reindexed
    assert await ledger.read(lambda db: Settings(db).get_int("chunks_reindexed"))
