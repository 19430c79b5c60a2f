"""Test what each kind of asker could learn, on a copy of the data in which marked texts are planted.

Imports the bot and its capabilities; only a command imports it.
"""
