"""Tables by which the processes on one database know of each other's changes, questions and waits."""
