"""Office files of before 2007 (DOC, XLS, PPT)."""
