from __future__ import annotations

import random

import pytest

from adapters.discord.shards.shard_set import ShardHoldings


def holdings(me: int, count: int, processes: str, holders: str = "") -> ShardHoldings:
    """`holders`: the process of each shard, "-" for a free one."""
    held = {shard: int(process) for shard, process in enumerate(holders) if process != "-"}
    return ShardHoldings(me, count, frozenset(map(int, processes)), held)


@pytest.mark.parametrize(
    ("holders", "next_one"),
    [("---", 1), ("1--", 2), ("12-", 1), ("2--", 1), ("22-", 1)],
)
def test_the_process_with_the_fewest_takes_the_next_shard(holders: str, next_one: int) -> None:
    assert [me for me in (1, 2) if holdings(me, 3, "12", holders).is_next()] == [next_one]


@pytest.mark.parametrize(
    ("holders", "surplus"),
    [
        ("111", {1: 2}),
        ("112", {}),  # one more than another is fair
        ("11-", {}),  # a free one is taken first
        ("1111", {1: 3}),
        ("1122", {}),
        ("1", {}),
        ("2221", {2: 2}),
        ("113333", {3: 5}),
    ],
)
def test_who_has_two_more_than_another_gives_one_up(holders: str, surplus: dict[int, int]) -> None:
    processes = "".join(sorted({*holders, "1", "2"} - {"-"}))
    found = {me: holdings(me, len(holders), processes, holders).find_surplus() for me in map(int, processes)}
    assert {me: shard for me, shard in found.items() if shard is not None} == surplus


def test_a_process_alone_takes_all() -> None:
    held = holdings(7, 3, "7")
    while held.free and held.is_next():
        held = held.with_mine(held.free[0])
    assert (held.holders, held.find_surplus()) == ({0: 7, 1: 7, 2: 7}, None)


@pytest.mark.parametrize("seed", range(20))
def test_every_distribution_becomes_fair_and_stays_so(seed: int) -> None:
    chance = random.Random(seed)
    count, processes = chance.randint(1, 20), frozenset(range(chance.randint(1, 6)))
    holders = {shard: chance.choice([*processes]) for shard in range(count)}
    for _ in range(2 * count):
        givers = {me: ShardHoldings(me, count, processes, holders).find_surplus() for me in processes}
        given = [(me, shard) for me, shard in givers.items() if shard is not None]
        if not given:
            break
        [(_, shard)] = given
        del holders[shard]
        [taker] = [me for me in processes if ShardHoldings(me, count, processes, holders).is_next()]
        holders[shard] = taker
    shares = [list(holders.values()).count(me) for me in processes]
    assert max(shares) - min(shares) <= 1
