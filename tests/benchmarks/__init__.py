"""Benchmarks: run by hand, never by the test suite, which only shows that they run; see README, "Benchmarks"."""
