"""Write a posted answer anew in place because a source of it changed."""
