"""Random tables, knowledge and settings, and whether the engine agrees with brute force on them.

`make soak` runs it for as long as one likes; a case is known by the seed and its number.
"""
