"""The encoding of values as bytes."""
