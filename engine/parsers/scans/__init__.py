"""Files whose text is a picture: noticed by the quality of their text, read by tesseract if it is installed."""
