"""What an erasure takes, said before it happens, and the signed receipt that says so afterwards."""
