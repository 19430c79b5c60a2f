"""Find different names of one entity: certain ones are joined, likely ones suggested. Pure."""
