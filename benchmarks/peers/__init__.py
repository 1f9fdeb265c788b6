"""Other libraries and engines, beside Sash."""
