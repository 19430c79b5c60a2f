"""Answers, entities and keywords without a model, by rules over words and vectors. Imports `text`."""
