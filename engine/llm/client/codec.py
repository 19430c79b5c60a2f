"""The values of a `Provider` as JSON, and back: what one process tells the other of a call."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Any

import numpy as np

from engine import errors
from engine.llm.client.protocol import Piece, Reply, Scores, Spent, Vectors

Frame = dict[str, Any]


def of(value: Reply | Piece | Vectors | Scores) -> Frame:
    """What came of a call."""
    if isinstance(value, Vectors):
        rows = np.ascontiguousarray(value.rows, dtype="<f4")
        told = base64.b64encode(rows.tobytes()).decode()
        return {"rows": told, "shape": rows.shape, "spent": asdict(value.spent)}
    if isinstance(value, Scores):
        rows_of_scores = [{key: row.get(key) for key in ("index", "relevance_score")} for row in value.rows]
        return {"rows": rows_of_scores, "spent": asdict(value.spent)}
    return asdict(value)


def reply(frame: Frame) -> Reply:
    """A whole reply."""
    return Reply(frame["text"], frame["finish"], Spent(**frame["spent"]))


def piece(frame: Frame) -> Piece:
    """A part of a reply."""
    spent = frame["spent"]
    return Piece(frame["text"], frame["finish"], Spent(**spent) if spent else None, frame["thought"])


def vectors(frame: Frame) -> Vectors:
    """Vectors."""
    rows = np.frombuffer(base64.b64decode(frame["rows"]), dtype="<f4").reshape(frame["shape"])
    return Vectors(rows, Spent(**frame["spent"]))


def scores(frame: Frame) -> Scores:
    """Scores."""
    return Scores(frame["rows"], Spent(**frame["spent"]))


def of_error(error: errors.LanguageError) -> Frame:
    """A call that failed."""
    return {"error": type(error).__name__, "message": str(error), "hint": error.hint, "wait": error.wait}


def error(frame: Frame) -> errors.LanguageError:
    """The error, in its own class."""
    kind: type[errors.LanguageError] = getattr(errors, frame["error"])
    made = kind(frame["message"], hint=frame["hint"])
    made.wait = frame["wait"]
    return made
