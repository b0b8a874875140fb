"""Measuring Mnemosaic: one module a benchmark. Each returns its figures as plain values and prints nothing."""
