"""Problems on networks: network slicing, and consensus on a random graph."""
