"""The audit log: who asked and changed what, as a chain of hashes, without texts and without names of people."""
