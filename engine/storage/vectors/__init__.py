"""The vector store: its Protocol and its implementation on LanceDB. Imports the models."""
