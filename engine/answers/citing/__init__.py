"""Read citations in the spellings of models and write them as [n]. Pure."""
