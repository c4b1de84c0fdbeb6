"""The form and the explorer."""
