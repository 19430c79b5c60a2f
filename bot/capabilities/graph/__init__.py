"""The graph as people explore it: its requests, results and operations."""
