"""All views on one page."""
