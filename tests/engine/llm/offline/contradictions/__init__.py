"""Tests of statements that disagree."""
