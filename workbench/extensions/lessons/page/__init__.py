"""Views of lessons: exercises and the pictures that belong to them."""
