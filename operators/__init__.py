"""What is done to the data: plain functions over Arrow, Polars and NumPy; no Ray, no settings, no server."""
