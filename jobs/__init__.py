"""Ray Data pipelines that apply the operators at scale, and the command line."""
