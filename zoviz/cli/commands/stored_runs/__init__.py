"""The commands about runs that are in a store."""
