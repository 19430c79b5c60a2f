"""Tests of how people are told of statements that disagree."""
