"""The pages on which questions are asked and what was said is searched."""
