"""The ledger: present facts with their provenance, and all text, in SQLite. All SQL of the engine stands here.

Its modules hold functions of a connection; `Ledger.read` and `Ledger.write` run them in a snapshot or a transaction.
"""

from engine.storage.ledger.database import Ledger

__all__ = ["Ledger"]
