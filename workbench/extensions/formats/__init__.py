"""A comparison of the storage formats of a matrix: words stored, bytes of a product, its time here, and pictures."""
