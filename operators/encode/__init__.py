"""Encoders: texts or pictures in, unit vectors out."""
