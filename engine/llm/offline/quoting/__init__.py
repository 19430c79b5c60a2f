"""What is quoted besides the best sentence: whole lists, replies, explanations, and the closest passages."""
