"""Arrays from outside: validation, norms and exact scaling."""
