"""Bad inputs in tables, one for each area: what is called, and which error it must raise.

``tests/test_bad_input_table.py`` runs them all.
"""
