"""Tokenizers that are easy to count with."""

from __future__ import annotations

from collections.abc import Sequence


class CharacterTokenizer:
    """One character is one token."""

    def encode(self, text: str) -> list[int]:
        return [ord(character) for character in text]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens))

    def count(self, text: str) -> int:
        return len(text)


class ByteTokenizer:
    """One byte of UTF-8 is one token, so that tokens end in the middle of characters."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: Sequence[int]) -> str:
        return bytes(tokens).decode(errors="replace")

    def count(self, text: str) -> int:
        return len(text.encode())


class UnevenTokenizer:
    """Capitals are two tokens, marks that end a sentence three, everything else one."""

    def encode(self, text: str) -> list[int]:
        return [token for character in text for token in [ord(character)] * self._weight(character)]

    def decode(self, tokens: Sequence[int]) -> str:
        text, at = "", 0
        while at < len(tokens):
            character = chr(tokens[at])
            weight = self._weight(character)
            whole = at + weight <= len(tokens)
            text += character if whole else "\ufffd"
            at += weight
        return text

    def count(self, text: str) -> int:
        return sum(map(self._weight, text))

    @staticmethod
    def _weight(character: str) -> int:
        return 3 if character in ".!?" else 2 if character.isupper() else 1
