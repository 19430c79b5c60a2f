"""What a follow-up question leaves out, by the form that it has."""
