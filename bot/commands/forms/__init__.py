"""Forms that people open by a button, a command or a menu, and what their answers do; built on the commands."""
