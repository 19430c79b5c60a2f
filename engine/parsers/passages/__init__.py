"""Blocks of a parsed file as passages with locators. Pure."""
