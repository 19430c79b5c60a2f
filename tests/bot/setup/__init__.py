"""Tests of the setup that a terminal and a page share."""
