"""The report: plots, one HTML page, one markdown page, claims, and two runs compared."""
