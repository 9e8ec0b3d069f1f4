"""Problems on networks: slicing, consensus."""
