"""Views of what more calls tell of a run, and of what its own calls were for."""
