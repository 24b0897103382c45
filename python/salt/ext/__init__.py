"""Libraries that Salt once carried."""
