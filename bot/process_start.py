"""What the process needs before everything else: it imports some 1,600 modules, which make next to no garbage.

Importing this module raises the limit at which Python looks for garbage; an entry point imports it first.
"""

from engine.memory import raise_gc_threshold

raise_gc_threshold()
