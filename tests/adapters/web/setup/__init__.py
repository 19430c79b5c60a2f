"""Tests of the page that sets the program up."""
