"""The graph store: its Protocol and its implementation on Kùzu. Imports the models."""
