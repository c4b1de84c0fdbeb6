"""Storage formats of matrices compared: words, bytes of a product, pictures, and the time of a product here."""
