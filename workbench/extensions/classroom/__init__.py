"""A server of pages for a class, and the teacher's page."""
