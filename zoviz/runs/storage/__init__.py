"""Runs in an SQL database: tables, recipes, recorder, queries."""
