"""Embed texts of a hundred languages with multilingual-e5-small on onnxruntime: word pieces, graph, vectors.

Source: Kudo 2018 (unigram language model). The library of MiniLM takes 270 MB and seconds for these 250,000 pieces.

The vectors of texts in one language have more in common than those of texts about one subject. So the vector of a
question is left without the directions in which languages differ: the texts that answer it may be in any. Those of
stored texts need no change, since products with such a question ignore these directions, too. Source: Yang et al. 2021.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import structlog

from engine.llm.e5.tensors import HIDDEN_SIZE, list_block_weights, list_integer_weights
from engine.llm.e5.weights import ZERO, BlockWeights, check_weights, find_weights, split_blocks
from engine.llm.minilm.graphs import MIN_MEAN_COSINE, mean_cosine, open_session, share_array
from engine.llm.minilm.local_embedder import LocalEmbedder, batch_by_length, pad_rows
from engine.text.similarity import unit_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engine.usage import UsageMeter


log = structlog.get_logger(__name__)

QUERY_PREFIX, PASSAGE_PREFIX = "query: ", "passage: "
BLOCK_GRAPH, INTEGER_GRAPH, RANGES, CHECK_VECTORS, LANGUAGE_AXES = (
    Path(__file__).with_name(name)
    for name in ("blocks.onnx", "integers.onnx", "ranges.npy", "check_vectors.npy", "language_axes.npy")
)
# By whose vectors the graph of 8-bit integers is checked.
CHECK_TEXTS = (
    "query: When does the ferry leave?",
    "passage: The roof of the town hall is renewed in May, and the hall is closed until then.",
    "passage: Der Schlüssel zum Lager liegt bei Ida; wer ihn braucht, trägt sich in die Liste ein.",
    "passage: La bomba del pozo se revisa cada martes a las ocho.",
    "query: 次の会議はいつですか。",
    "passage: Насос стоит в подвале, его номер 4711.",
)
PIECE_TABLE = "emb.word"
FIRST_MARKER, LAST_MARKER, UNKNOWN_PIECE = 0, 2, 3
SPECIAL_PIECES = 4  # the first ids; none of them stands for a part of a text
MAX_WORD_PIECES = 512  # that the model accepts, its two markers included; the rest is cut off
UNKNOWN_LOSS = 10.0  # of a character that no piece has, below the worst piece
WORD_START = "\u2581"  # stands for the space before a word
MAX_KEPT_WORDS, MAX_KEPT_LENGTH = 20_000, 24  # words whose pieces are kept, and their characters
_SPACES = re.compile(" {2,}")
_WORDS = re.compile(f"{WORD_START}[^{WORD_START}]*")


@dataclass(frozen=True, slots=True)
class E5Model:
    """The loaded model. `pieces`: the bytes of the vectors of word pieces; `values`: what the session does not keep."""

    tokenizer: WordPieceTokenizer
    session: Any
    values: Mapping[str, Any]
    pieces: np.ndarray

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """The word piece ids of each text, at most 512."""
        return [self.tokenizer.tokenize(text) for text in texts]

    def batch(self, rows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """Positions of the rows of each run."""
        return batch_by_length([len(row) for row in rows])

    def run(self, rows: Sequence[Sequence[int]]) -> np.ndarray:
        """One vector per row of word pieces; shorter rows are padded."""
        ids, mask = pad_rows(rows)
        vectors: np.ndarray = self.session.run(["vectors"], {"pieces": self.look_up(ids), "mask": mask})[0]
        return vectors

    def compute_check_vectors(self) -> np.ndarray:
        """The vectors of the compared texts, one run each."""
        return np.concatenate([self.run([row]) for row in self.tokenize(CHECK_TEXTS)])

    def look_up(self, ids: np.ndarray) -> np.ndarray:
        """The vectors of word pieces, float32 of shape (batch, length, 384)."""
        scales, integers = split_blocks(self.pieces[ids])
        numbers = (integers.astype(np.float32) - ZERO) * scales[..., None].astype(np.float32)
        return numbers.reshape(*ids.shape, HIDDEN_SIZE)


class E5Embedder(LocalEmbedder[E5Model]):
    """Multilingual embedder, implements `QueryEmbedder`: 384 dimensions; loaded on first use.

    Most processors multiply 8-bit integers: vectors have a cosine of 0.9996 with those of the same weights in floating
    point. `max_tokens` counts o200k_base tokens; the model takes 512 word
    pieces. It is no more than that of MiniLM, so that passages of chats are told apart.
    """

    name = "multilingual-e5-small-q4@384"
    max_tokens = 128
    # Of the right paragraphs for questions in Arabic over English texts 59 % are below 0.17, in German 9 %.
    least_similarity = 0.03

    @classmethod
    def find_weights(cls) -> Path:
        return find_weights()

    def open_model(self) -> E5Model:
        file = self.find_weights()
        check_weights(file)
        return load_e5(file, self.threads)

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        return await super().embed([PASSAGE_PREFIX + text for text in texts], meter)

    async def embed_queries(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        """As `embed`, for questions."""
        vectors = await super().embed([QUERY_PREFIX + text for text in texts], meter)
        return remove_language(vectors, load_language_axes())


@cache
def load_language_axes() -> np.ndarray:
    """The directions in which languages differ, shape (n, 384), at right angles and of length one."""
    axes: np.ndarray = np.load(LANGUAGE_AXES).astype(np.float32)
    return axes


def find_language_axes(vectors: Sequence[np.ndarray], count: int) -> np.ndarray:
    """The directions in which languages differ most; `vectors`: of the same sentences in each language."""
    means = np.stack([each.mean(axis=0) for each in vectors])
    axes: np.ndarray = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)[2][:count]
    return axes


def remove_language(vectors: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """The vectors, shape (n, dim), without these directions and of length one."""
    return unit_vectors(vectors - (vectors @ axes.T) @ axes)


def load_e5(file: Path, threads: int) -> E5Model:
    """The model with the weights of a file; the graph of 8-bit integers if this processor computes it precisely."""
    weights = BlockWeights.open(file)
    tokenizer = WordPieceTokenizer(weights.pieces, weights.scores, weights.characters)
    pieces = weights.map_blocks(PIECE_TABLE, HIDDEN_SIZE)

    def open_graph(graph: Path, tensors: Iterator[tuple[str, np.ndarray]]) -> E5Model:
        values = {name: share_array(array) for name, array in tensors}
        return E5Model(tokenizer, open_session(graph, file.parent, values, threads), values, pieces)

    fast = open_graph(INTEGER_GRAPH, list_integer_weights(weights, np.load(RANGES)))
    if mean_cosine(np.load(CHECK_VECTORS), fast.compute_check_vectors()) >= MIN_MEAN_COSINE:
        return fast
    log.info("embedder.integers_not_used")
    return open_graph(BLOCK_GRAPH, list_block_weights(weights))


class WordPieceTokenizer:
    """Divides texts. `pieces` and `scores` by id; `characters`: what each is replaced by first. For one thread."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float], characters: Mapping[int, str]) -> None:
        self._ids = {piece: id_ for id_, piece in enumerate(pieces) if id_ >= SPECIAL_PIECES}
        self._scores = array("f", scores)
        self._characters = characters
        self._unknown_score = min(scores) - UNKNOWN_LOSS
        self._longest = max(map(len, self._ids))
        self._kept: dict[str, list[int]] = {}

    def tokenize(self, text: str) -> list[int]:
        """The ids of the word pieces of a text between its markers, at most 512."""
        plain = _SPACES.sub(" ", unicodedata.normalize("NFC", text).translate(self._characters)).strip()
        ids = [FIRST_MARKER]
        for word in _WORDS.findall(f"{WORD_START}{plain.replace(' ', WORD_START)}"):
            ids += self._divide_word(word)
            if len(ids) >= MAX_WORD_PIECES:
                break
        return [*ids[: MAX_WORD_PIECES - 1], LAST_MARKER]

    def _divide_word(self, word: str) -> list[int]:
        if (known := self._kept.get(word)) is not None:
            return known
        ids = self._find_best_pieces(word)
        if len(word) <= MAX_KEPT_LENGTH:
            if len(self._kept) >= MAX_KEPT_WORDS:
                self._kept.clear()
            self._kept[word] = ids
        return ids

    def _find_best_pieces(self, word: str) -> list[int]:
        """The pieces with the greatest sum of scores (Viterbi); adjacent unknown characters are one piece."""
        size, scores, find = len(word), self._scores, self._ids.get
        best = [0.0, *[float("-inf")] * size]
        last = [(UNKNOWN_PIECE, 0)] * (size + 1)  # by the end of a piece: its id and its start
        for start in range(size):
            so_far = best[start]
            if so_far + self._unknown_score > best[start + 1]:
                best[start + 1], last[start + 1] = so_far + self._unknown_score, (UNKNOWN_PIECE, start)
            for end in range(start + 1, min(start + self._longest, size) + 1):
                id_ = find(word[start:end])
                if id_ is not None and so_far + scores[id_] > best[end]:
                    best[end], last[end] = so_far + scores[id_], (id_, start)
        ids, end = list[int](), size
        while end:
            id_, end = last[end]
            if not (id_ == UNKNOWN_PIECE and ids and ids[-1] == UNKNOWN_PIECE):
                ids.append(id_)
        return ids[::-1]
