"""Tests of sentences about facts."""
