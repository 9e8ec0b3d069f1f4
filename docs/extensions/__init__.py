"""Extensions of Sphinx that make pages from the package: the reference, the gallery, notebooks, and formulas."""
