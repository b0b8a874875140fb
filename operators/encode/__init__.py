"""Text encoders: strings in, unit vectors out."""
