"""Decode the bytes of text files: by a mark, by what they declare, or by the letters and the language."""
