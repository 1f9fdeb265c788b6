"""A mutation test of the core: small faults put into its headers, which the tests must notice.

All mutants are compiled into one build, as switches: ``a < b`` becomes
``sash_mutant::less(17, a, b)``, which is ``a <= b`` while mutant 17 is on. See docs/mutants.md.
"""
