"""From observed attributes to the schemas of tables."""
