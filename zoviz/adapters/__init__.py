"""Adapters for other tools: each is a thin layer over ``AskTell`` that imports its own library."""
