"""From rounds to observations: what is said or shown as an attribute with a value, and where it stands."""
