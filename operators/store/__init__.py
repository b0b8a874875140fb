"""The store: objects, snapshots, commits and what is kept."""
