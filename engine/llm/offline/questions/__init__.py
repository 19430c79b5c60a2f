"""What a question asks for, and what a follow-up question leaves out."""
