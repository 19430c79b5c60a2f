"""What the kernel takes from a process: Landlock, seccomp, and the system calls and files that parsers need."""
