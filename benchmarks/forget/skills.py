"""The model of all memories: it extracts by rule, summarizes by first words, and answers with all that it is given.

Needs nothing but numpy, so that a process of another environment can import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np

DIM = 64
D, END = "<|#|>", "<|COMPLETE|>"
FACT = re.compile(r"(\w+ \w+) keeps the (\w+) of (\w+ \w+) under the word (\w+)\.")
WORD = re.compile(r"\w+")
MAX_SUMMARY = 4000  # characters


def embed(texts: Sequence[str]) -> np.ndarray:
    """Bags of hashed words as unit vectors, float32 of shape (texts, DIM)."""
    rows = np.zeros((len(texts), DIM), np.float32)
    for row, text in enumerate(texts):
        for word in WORD.findall(text.casefold()) or [""]:
            rows[row, int.from_bytes(blake2b(word.encode(), digest_size=4).digest()) % DIM] += 1
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def extract(text: str) -> str:
    """Entities and relations of a text, in the format of LightRAG."""
    rows = list[str]()
    for person, thing, hub, _ in FACT.findall(text):
        stated = next(found[0] for found in FACT.finditer(text) if found[1] == person and found[2] == thing)
        rows.append(D.join(("entity", person, "person", stated)))
        rows.append(D.join(("entity", hub, "organization", stated)))
        rows.append(D.join(("relation", person, hub, "keeping", stated)))
    return "\n".join((*rows, END))


def summarize(descriptions: Iterable[str]) -> str:
    """All descriptions, as a careful model would keep each of them."""
    return " ".join(descriptions)[:MAX_SUMMARY]
