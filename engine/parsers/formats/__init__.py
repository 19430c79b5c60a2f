"""Formats with locators of their own: rows, slides, chapters, cells, times, functions, records, mail attachments."""
