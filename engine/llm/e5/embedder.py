"""Embed texts of a hundred languages with multilingual-e5-small on onnxruntime, without a key or a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.llm.e5.graph import HIDDEN_SIZE, PIECE_TABLE, open_graph
from engine.llm.e5.weights import ZERO, BlockWeights, check_weights, find_weights, split_blocks
from engine.llm.e5.word_pieces import WordPieceTokenizer
from engine.llm.minilm.local_embedder import LocalEmbedder, batch_by_length, pad_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from engine.usage import UsageMeter

QUERY_PREFIX, PASSAGE_PREFIX = "query: ", "passage: "


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
        vectors: np.ndarray = self.session.run(["vectors"], {"pieces": self._look_up(ids), "mask": mask})[0]
        return vectors

    def _look_up(self, ids: np.ndarray) -> np.ndarray:
        """The vectors of word pieces, float32 of shape (batch, length, 384)."""
        scales, integers = split_blocks(self.pieces[ids])
        numbers = (integers.astype(np.float32) - ZERO) * scales[..., None].astype(np.float32)
        return numbers.reshape(*ids.shape, HIDDEN_SIZE)


class E5Embedder(LocalEmbedder[E5Model]):
    """Multilingual embedder, implements `QueryEmbedder`: 384 dimensions; loaded on first use.

    Weights have 4 bits, and the numbers that they are multiplied with are rounded to 8: vectors have a cosine of 0.9999
    with those of the same weights in floating point. `max_tokens` counts o200k_base tokens; the model takes 512 word
    pieces. It is no more than that of MiniLM, so that passages of chats are told apart.
    """

    name = "multilingual-e5-small-q4@384"
    max_tokens = 128

    @classmethod
    def find_weights(cls) -> Path:
        return find_weights()

    def open_model(self) -> E5Model:
        file = self.find_weights()
        check_weights(file)
        weights = BlockWeights.open(file)
        tokenizer = WordPieceTokenizer(weights.pieces, weights.scores, weights.characters)
        session, values = open_graph(weights, file.parent, self.threads)
        return E5Model(tokenizer, session, values, weights.map_blocks(PIECE_TABLE, HIDDEN_SIZE))

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        return await super().embed([PASSAGE_PREFIX + text for text in texts], meter)

    async def embed_queries(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        """As `embed`, for questions."""
        return await super().embed([QUERY_PREFIX + text for text in texts], meter)
