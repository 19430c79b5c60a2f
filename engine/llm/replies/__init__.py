"""Calls whose replies are judged where they arrive: tried again, completed, or given up with a reason."""
