"""Local RPC: commands are executed by the process that holds the data directory, over a Unix socket."""
