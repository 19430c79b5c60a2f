"""Detect the format of a file and the encoding of a text. Imports the registry and the base of `parsers`. Pure."""
