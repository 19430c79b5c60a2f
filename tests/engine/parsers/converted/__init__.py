"""What parser services make of files."""
