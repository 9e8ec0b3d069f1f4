"""Stored runs on the page: table, details, fork form."""
