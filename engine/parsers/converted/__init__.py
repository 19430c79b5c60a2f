"""What parser services made of files."""
