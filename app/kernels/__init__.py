"""Attention on a real GPU, one file a version, and the bench that proves and times it. The server never imports it."""
