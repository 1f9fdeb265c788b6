"""How costs grow, and what a cluster would need."""
