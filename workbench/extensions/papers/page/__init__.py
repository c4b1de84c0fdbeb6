"""Views on the items of papers."""
