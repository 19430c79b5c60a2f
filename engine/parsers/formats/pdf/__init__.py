"""PDF files: the text of their pages, values of forms, typed notes, attached files."""
