"""Draw the neighborhood of an entity as a picture. Imports matplotlib, networkx and the engine."""
