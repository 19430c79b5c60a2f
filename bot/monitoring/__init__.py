"""What operators see of a process: metrics, and probes of its health."""
