"""The sentences of an answer and the numbers that they cite."""
