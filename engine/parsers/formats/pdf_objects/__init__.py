"""What a PDF holds beside the text of its pages: values of forms, typed notes, attached files."""
