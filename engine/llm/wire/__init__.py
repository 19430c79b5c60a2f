"""What providers send: the wording of their rejections, parts of replies, and prices."""
