"""The encoding of values as bytes, and the names that older stores hold."""
