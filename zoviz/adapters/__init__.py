"""Doors from other tools: each is a thin layer over ``AskTell``, and imports the library that it is for."""
