"""The page of stored runs: table, details, fork form."""
