"""What a run's course says of it, for pages, notebooks, scripts and command lines; nothing here draws."""
