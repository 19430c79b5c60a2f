"""Tests of suggested questions."""
