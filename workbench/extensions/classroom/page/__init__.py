"""Views for a class."""
