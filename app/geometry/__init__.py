"""Builds the 3D model of the package: dimension table in, GLB and manifest out. Runs offline; nothing serves it."""
