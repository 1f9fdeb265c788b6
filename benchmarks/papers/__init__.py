"""The experiments of the papers, on our structures."""
