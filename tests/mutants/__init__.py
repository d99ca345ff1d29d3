"""Sources with one small change each: the tests must notice it, or the change must be no matter.

`make mutants` draws 150 of each language by a seed. The changes of Rust are those of cargo-mutants;
those of Python are in `changes.py`. What no test notices is listed in `docs/reliability.md`.
"""
