"""Short codes of vectors, by which a search finds the few rows of a large table that are worth comparing.

Product quantization (Jégou, Douze, Schmid 2011): each pair of numbers is replaced by the nearest of 16 pairs, in half a
byte. FAISS compares 32 codes at once ("fast scan"): a row takes 15 ns of one core and 5 for a second query, its rounded
vector 60 and 20. The 4,096 nearest of 400,000 random vectors by their codes contained each of the nearest 120.
"""

from __future__ import annotations

import math
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import structlog

from engine.storage.search_gate import MAX_THREADS, share_work
from engine.storage.vectors.in_memory.nearest import NearRows, list_new

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

log = structlog.get_logger(__name__)

BITS, HALF = 4, np.uint8(15)  # of the code of a part of a vector, half a byte, and all of these bits
PAIR, PACKED = 2, 4  # numbers of a vector that a code stands for, and those that a byte does
BLOCK_ROWS = 32  # whose codes FAISS keeps together
LIST_BYTES = 1 << 20  # of the codes of a list: FAISS takes memory in powers of two
ID_BYTES = 8  # by which FAISS names a row
# So many rows are found by their codes, this many times the wanted ones, and one of so many rows that are searched.
MIN_CANDIDATES, CANDIDATE_FACTOR, CANDIDATE_SHARE = 4_096, 32, 400
TRAINING_ROWS, MIN_TRAINING_ROWS = 4_096, 16  # to which codes are fitted: FAISS takes no more, and no fewer
FIRST_SHARE = 4  # of the candidates one of so many are compared at first; then others that may be wanted
# Candidates are compared down to so many standard deviations of the errors of codes below the last wanted row; all rows
# are compared if others than candidates may be within SURE_DEVIATIONS of it.
COMPARED_DEVIATIONS, SURE_DEVIATIONS = 3.0, 2.0
SHARED_LISTS = 20  # from more on several threads search: 220,000 rows of 384 dimensions

_threads = threading.local()  # has `is_limited` in those in which FAISS uses one core


class _Found(NamedTuple):
    """The rows nearest to each query by their codes, shape (q, n): similarities and places, -1 if there are fewer."""

    similarities: np.ndarray
    places: np.ndarray


def compare_candidates(
    found: Sequence[NearRows], wanted: Sequence[int], searched: int, compare: Callable[[np.ndarray], np.ndarray]
) -> list[NearRows | None]:
    """For each query the rows that were compared, of ascending places.

    None if some of the other rows that were searched are probably as near as the wanted ones. `found`: for each query
    the rows nearest by their codes. `compare` gives the similarities of each query with rows.
    """
    chosen = [each.select_nearest(-(-len(each.places) // FIRST_SHARE)) for each in found]
    places, similarities = np.empty(0, np.int64), np.empty((len(found), 0), np.float32)
    exact = [NearRows(places, row) for row in similarities]
    while len(new := list_new([each.places for each in chosen], places)):
        order = np.argsort(places := np.append(places, new), kind="stable")
        places, similarities = places[order], np.append(similarities, compare(new), axis=1)[:, order]
        exact = [NearRows(places, row) for row in similarities]
        lowest = [
            min(
                find_lowest_similarity(coded, near, count, COMPARED_DEVIATIONS),
                coded.similarities.min(initial=math.inf),
            )
            for coded, near, count in zip(chosen, exact, wanted, strict=True)
        ]  # never fewer rows than before: these are compared already, and tell the errors of codes
        chosen = [each.select(each.similarities >= bound) for each, bound in zip(found, lowest, strict=True)]
    lowest = [find_lowest_similarity(*each, SURE_DEVIATIONS) for each in zip(chosen, exact, wanted, strict=True)]
    return [
        near if len(each.places) == searched or bound > each.similarities.min(initial=math.inf) else None
        for near, each, bound in zip(exact, found, lowest, strict=True)
    ]


def find_lowest_similarity(coded: NearRows, exact: NearRows, wanted: int, deviations: float) -> float:
    """The lowest similarity by its code that a row as near as the last wanted one probably has; -inf if it is unknown.

    `exact`: rows that were compared, of ascending places; `coded`: some of them, by their codes, which err as much for
    other rows. `deviations`: how far below the mean of these errors.
    """
    if len(coded.places) <= wanted:
        return -math.inf
    compared = exact.similarities[np.searchsorted(exact.places, coded.places)]
    near = np.argpartition(compared, -wanted)[-wanted:]
    errors = compared[near] - coded.similarities[near]
    return float(compared[near].min() - errors.mean() - deviations * errors.std())


def report_failure(error: Exception, rows: int) -> None:
    """Log that codes of a table of so many rows cannot be made or searched."""
    log.warning("vectors.no_codes", rows=rows, error=str(error) or type(error).__name__)


def code_bytes(dim: int) -> int:
    """The memory that a row takes for its code; 0: vectors of this length have none."""
    return dim // PACKED + ID_BYTES if dim % PACKED == 0 else 0


class RowCodes:
    """The codes of rows by their places, in lists of `list_rows` neighbors: a column for one thread, except `find`.

    `sample`: vectors of length one, shape (n, dim), at least MIN_TRAINING_ROWS, to which the codes are fitted. Means of
    some of its numbers are kept: what a deleted row contributed is in them until the codes are made again.
    """

    def __init__(self, max_rows: int, sample: np.ndarray) -> None:
        faiss: Any = import_module("faiss")  # for large tables only; its types lack what is called here
        self._faiss = faiss
        dim = sample.shape[1]
        shape = (dim // PAIR, BITS, faiss.METRIC_INNER_PRODUCT, BLOCK_ROWS)
        self._length = dim // PACKED
        self.list_rows = LIST_BYTES // (BLOCK_ROWS * self._length) * BLOCK_ROWS
        self._leave_cores()
        self._coder = faiss.IndexPQFastScan(dim, *shape)
        self._coder.train(np.ascontiguousarray(sample, np.float32))
        self._index = faiss.IndexIVFPQFastScan(faiss.IndexFlatIP(dim), dim, -(-max_rows // self.list_rows), *shape)
        self._index.pq = self._coder.pq
        self._index.is_trained = True
        self._lists = faiss.downcast_InvertedLists(self._index.invlists)
        self.filled: float = 0  # so many lists have the codes of their rows; infinite: all, and those that follow
        self._blocks = list[np.ndarray]()  # the bytes of each list, as FAISS arranges them
        self._halves = self._find_halves()

    def encode(self, vectors: np.ndarray) -> np.ndarray:
        """The codes of vectors, a row each."""
        self._leave_cores()
        codes: np.ndarray = self._coder.pq.compute_codes(np.ascontiguousarray(vectors, np.float32))
        return codes

    def fill_list(self, number: int, vectors: np.ndarray, *, is_last: bool) -> None:
        """Write the codes of all rows of a list, the next one: much faster than one by one."""
        self._leave_cores()
        self._reserve_lists(number + 1)
        if len(vectors):
            self._coder.add(np.ascontiguousarray(vectors, np.float32))
            size = self._coder.codes.size()
            self._blocks[number][:size] = self._faiss.rev_swig_ptr(self._coder.codes.get(), size)
            self._coder.reset()
        self.filled = math.inf if is_last else number + 1

    def __getitem__(self, places: np.ndarray) -> np.ndarray:
        """The codes at these places; zeros in lists that are not filled yet."""
        found = np.zeros((len(places), 2 * self._length), np.uint8)
        for chosen, blocks, at in self._locate(places):
            found[chosen] = blocks[at >> 1] >> ((at & 1) << 2).astype(np.uint8) & HALF
        return np.asarray(found[:, ::2] | found[:, 1::2] << BITS)

    def __setitem__(self, places: slice | np.ndarray, codes: np.ndarray | int) -> None:
        """Write codes at these places, which differ, or a number everywhere in them; not in lists to be filled."""
        if isinstance(places, slice):
            places = np.arange(places.start, places.stop)
        if self.filled == math.inf:
            self._reserve_lists(int(places.max(initial=-1)) // self.list_rows + 1)
        packed = np.broadcast_to(np.asarray(codes, np.uint8), (len(places), self._length))
        halves = np.stack([packed & HALF, packed >> BITS], axis=2).reshape(len(places), 2 * self._length)
        for chosen, blocks, at in self._locate(places):
            for half in (0, 1):  # a byte has halves of two rows
                is_half = (at & 1) == half
                bytes_, kept = at[is_half] >> 1, HALF << BITS * (1 - half)
                blocks[bytes_] = blocks[bytes_] & kept | halves[chosen][is_half] << BITS * half

    def _locate(self, places: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Which of these places are in each list in memory, its bytes, and the half bytes of their codes.

        A half is 2 * byte, and 1 more if it is the high one.
        """
        numbers, rows = np.divmod(places, self.list_rows)
        for number in np.unique(numbers[numbers < len(self._blocks)]).tolist():
            chosen = np.flatnonzero(numbers == number)
            blocks, rows_of_block = np.divmod(rows[chosen], BLOCK_ROWS)
            yield (
                chosen,
                self._blocks[number],
                blocks[:, None] * (2 * BLOCK_ROWS * self._length) + self._halves[rows_of_block],
            )

    def find(self, queries: np.ndarray, count: int, lists: np.ndarray, matches: np.ndarray | None) -> list[NearRows]:
        """For each query the rows of these lists nearest by their codes, many more than `count`.

        `matches`: which places may be found, as booleans; None: all of these lists.
        """
        searched = len(lists) * self.list_rows
        candidates = max(MIN_CANDIDATES, CANDIDATE_FACTOR * count, searched // CANDIDATE_SHARE)
        queries = np.ascontiguousarray(queries, np.float32)
        selector = None if matches is None else self._faiss.IDSelectorBitmap(np.packbits(matches, bitorder="little"))
        found = list[_Found]()

        def search(parts: Iterator[np.ndarray]) -> None:
            found.extend(self._search_lists(queries, candidates, part, selector) for part in parts)

        share_work(np.array_split(lists, min(MAX_THREADS, -(-len(lists) // SHARED_LISTS))), search)
        return [_join_found(found, query, candidates) for query in range(len(queries))]

    def _search_lists(self, queries: np.ndarray, count: int, lists: np.ndarray, selector: Any) -> _Found:
        self._leave_cores()
        shape = (len(queries), min(count, len(lists) * self.list_rows))
        found = _Found(np.empty(shape, np.float32), np.empty(shape, np.int64))
        numbers = np.ascontiguousarray(np.broadcast_to(lists.astype(np.int64), (len(queries), len(lists))))
        offsets = np.zeros(numbers.shape, np.float32)  # of the similarities in each list
        options = self._faiss.SearchParametersIVF(nprobe=len(lists), sel=selector)
        pointers = [self._faiss.swig_ptr(array) for array in (queries, numbers, offsets, *found)]
        # The method that takes arrays takes no options.
        self._index.search_preassigned_c(len(queries), pointers[0], shape[1], *pointers[1:], False, options)
        return found

    def _reserve_lists(self, count: int) -> None:
        """Take memory for the first `count` lists."""
        for number in range(len(self._blocks), count):
            self._lists.resize(number, self.list_rows)
            names = self._faiss.rev_swig_ptr(self._lists.get_ids(number), self.list_rows)
            names[:] = np.arange(number * self.list_rows, (number + 1) * self.list_rows)
            size = self.list_rows * self._length
            blocks = self._faiss.rev_swig_ptr(self._lists.get_codes(number), size)
            blocks[:] = 0
            self._blocks.append(blocks)

    def _find_halves(self) -> np.ndarray:
        """Where a block has the halves of the codes of its rows, shape (rows, 2 * length): 2 * byte, + 1 if it is high.

        The order is that of the vector instructions of FAISS. Each half is given a number, a digit at a time, and found
        in the block by it.
        """
        shape = (BLOCK_ROWS, 2 * self._length)
        names = np.arange(shape[0] * shape[1]).reshape(shape)
        found = np.zeros(shape[0] * shape[1], np.int64)
        for shift in range(0, 5 * BITS, BITS):
            digits = (names >> shift & HALF).astype(np.uint8)
            block = np.zeros((1, BLOCK_ROWS * self._length), np.uint8)
            for row, code in enumerate(digits[:, ::2] | digits[:, 1::2] << BITS):
                self._lists.packer.pack_1(code, row, block)
            found |= np.stack([block[0] & HALF, block[0] >> BITS], axis=1).reshape(-1).astype(np.int64) << shift
        return np.argsort(found).reshape(shape)

    def _leave_cores(self) -> None:
        """Keep FAISS from using every core for each call of this thread."""
        if not hasattr(_threads, "is_limited"):
            self._faiss.omp_set_num_threads(1)
            _threads.is_limited = True


def _join_found(found: Sequence[_Found], query: int, count: int) -> NearRows:
    """The rows of all parts that are nearest to a query, of ascending places, so that they are looked up fast."""
    near = NearRows.join([NearRows(part.places[query], part.similarities[query]) for part in found])
    near = near.select(near.places >= 0).select_nearest(count)
    return near.select(np.argsort(near.places))
