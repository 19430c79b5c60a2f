"""The graph as people explore it: search of names, a subgraph around an entity, and the provenance of its facts."""
