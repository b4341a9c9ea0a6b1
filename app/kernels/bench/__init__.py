"""Proving and timing the kernels on the GPU in front of it: cases, checker, harness, counters, environment, record."""
