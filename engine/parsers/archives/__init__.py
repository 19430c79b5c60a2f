"""Files that hold files: archives, mailboxes, saved web pages, and packages of documents."""
