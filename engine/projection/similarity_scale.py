"""The scale of the embedder's similarities, measured once and kept in the ledger with the embedder's identity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.llm.base import hash_parts
from engine.llm.checked_embedder import OTHER_UNRELATED_TEXTS, UNRELATED_TEXTS, embedder_identity
from engine.text.similarity import SimilarityScale

if TYPE_CHECKING:
    from engine.llm.checked_embedder import CheckedEmbedder
    from engine.runtime import Runtime
    from engine.storage.ledger import LedgerStore
    from engine.usage import UsageMeter

SETTING = "similarity_scale"


async def recall_scale(ledger: LedgerStore, embedder: CheckedEmbedder) -> None:
    """Give the embedder the scale that was measured of it, if it was."""
    key, _, unrelated = (await ledger.settings.get(SETTING)).partition(" ")
    if key == _identify(embedder):
        embedder.recall_scale(SimilarityScale(float(unrelated)))


async def measure_scale(runtime: Runtime, meter: UsageMeter) -> SimilarityScale:
    """The scale of the embedder, which is measured and kept the first time. Raises ModelError."""
    is_known = runtime.embedder.has_scale
    scale = await runtime.embedder.measure_scale(meter)
    if not is_known and runtime.refusal is None:
        await runtime.ledger.settings.set(SETTING, f"{_identify(runtime.embedder)} {scale.unrelated}")
    return scale


def _identify(embedder: CheckedEmbedder) -> str:
    """A key of the embedder and of the texts by which it is measured."""
    return hash_parts((embedder_identity(embedder), *UNRELATED_TEXTS, *OTHER_UNRELATED_TEXTS)).hex()
