"""Typed tables of a user's records: what is asked of them, as conditions, aggregates and rankings."""
