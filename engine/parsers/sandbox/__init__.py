"""Run parsers in child processes with bounded memory, time and rights. Imports the registry of `parsers`."""
