"""How good the answers are: one module a step, from a benchmark's questions to the report."""
