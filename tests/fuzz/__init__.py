"""Random files, commands and tables: kes may refuse them, but only by a `KesError`, quickly, in few
words, and without more memory than a small input deserves.

``make fuzz CASES=100000`` runs it; a case is a function of its target, its number and the seed, so
that what falls can be done again: ``python -m tests.fuzz --target bif --only 4711``.
"""
