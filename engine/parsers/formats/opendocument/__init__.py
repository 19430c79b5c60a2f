"""OpenDocument: paragraphs, lists, tables, notes, comments, charts and formulas of ODT, ODS and ODP."""
