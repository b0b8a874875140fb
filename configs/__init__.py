"""Settings: one YAML file per situation and the one typed module that reads them."""
