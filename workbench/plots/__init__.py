"""Pictures as plain data (`scenes`), and their drawing by Matplotlib (`figures`)."""
