"""What kind of speech a message is: pure rules over its words."""
