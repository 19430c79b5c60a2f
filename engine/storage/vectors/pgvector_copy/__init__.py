"""Copies of the tables of vectors in memory, one in each process, that are equal to the database at every read."""
