"""Measures whether newer statements replace former ones, and only these."""
