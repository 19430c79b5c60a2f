"""Parts of OpenXML files (DOCX, PPTX, XLSX) beside their main text: charts, diagrams, comments, notes, formats."""
