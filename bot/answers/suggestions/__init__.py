"""Suggested follow-up questions: buttons below an answer that ask what is known to find something."""
