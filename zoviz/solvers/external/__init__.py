"""Optimisers of other libraries, behind the same oracle, budgets and counts as this one's own."""
