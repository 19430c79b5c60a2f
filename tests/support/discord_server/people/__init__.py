"""The people, their clients and their screens; they use only what a client of the platform offers."""
