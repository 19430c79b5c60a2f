"""What the kernel takes from a parser on this machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SandboxState:
    """What bounds a parser: the version of Landlock (0: none), and whether each other mechanism is active.

    `memory`: its address space is limited. `namespaces` (an own network, own users and queues) and `capabilities` (it
    has none) add to what the others do already; many containers forbid the former.
    """

    landlock: int = 0
    seccomp: bool = False
    memory: bool = False
    namespaces: bool = False
    capabilities: bool = False

    @property
    def missing(self) -> tuple[str, ...]:
        """What a full boundary lacks, in words."""
        found = {
            "Landlock, which bounds its files": bool(self.landlock),
            "the filter of system calls (seccomp), which bounds connections and signals": self.seccomp,
            "the limit of memory": self.memory,
        }
        return tuple(name for name, is_there in found.items() if not is_there)

    @property
    def is_complete(self) -> bool:
        """Whether a parser that an attacker controls reaches no file, server or process of others."""
        return not self.missing

    def list_mechanisms(self) -> tuple[tuple[str, str], ...]:
        """Each mechanism with its state in a word."""
        return (
            ("Landlock", f"version {self.landlock}" if self.landlock else "missing"),
            ("seccomp", "active" if self.seccomp else "missing"),
            ("memory limit", "active" if self.memory else "missing"),
            ("namespaces", "active" if self.namespaces else "not available, not needed"),
            ("capabilities", "none" if self.capabilities else "kept"),
        )
