"""What the libraries leave out of Office files of 1997 to 2003: formats, notes, comments, text boxes, headers."""
