"""Benchmarks: run by hand, never by the test suite; see README, "Benchmarks"."""
