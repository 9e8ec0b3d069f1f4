"""What a run's course, and calls beside it, say of a run, for pages, notebooks and scripts; nothing here draws."""
