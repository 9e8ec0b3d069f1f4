"""One call that minimises: ``zoviz.minimize``."""
