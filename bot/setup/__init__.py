"""Set the program up: what was chosen, what is wrong with it, what it costs, and the settings file.

A terminal (`bot/cli/init`) and a page (`SetupPage`) ask.
"""
