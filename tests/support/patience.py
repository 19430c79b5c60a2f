"""How long tests wait for something before they fail."""

from __future__ import annotations

# Seconds. A wait that succeeds costs only what it lasts; a busy machine may take ten times as long as a quiet one.
PATIENCE = 60.0
