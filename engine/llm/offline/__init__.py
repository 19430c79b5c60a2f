"""Answers, entities and keywords without a model, by rules over words and vectors.

Imports `llm.base`, `llm.prompts`, `text`, models and `usage`.
"""
