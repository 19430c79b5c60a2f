"""Pictures and pages without readable text: read by tesseract if it is installed, or passed on to be described."""
