"""Kernels that are wrong on purpose, kept so that the checker can be seen to reject them. Never use their results."""
