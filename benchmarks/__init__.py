"""Benchmarks. Each checks its answer before its time counts and reports CPU time."""
