"""The ledger: current facts with their provenance, and all text. All SQL of the engine is in this package.

Doors for the rest of the engine: this module opens a ledger, `api` holds its Protocols, `records` what they speak of.
"""

from engine.storage.ledger.content.documents import validate_document
from engine.storage.ledger.database import Ledger, compute_file_checksum, merge_log, prepare_restored_ledger

__all__ = [
    "Ledger",
    "compute_file_checksum",
    "merge_log",
    "prepare_restored_ledger",
    "validate_document",
]
