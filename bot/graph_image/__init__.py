"""Draw the neighborhood of an entity as a picture, with matplotlib and networkx, which an extra installs."""
