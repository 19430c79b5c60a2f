"""Tests of what the benchmarks compute."""
