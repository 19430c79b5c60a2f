"""Rows of vector tables in memory: their arrays, how they are loaded, found and bounded."""
