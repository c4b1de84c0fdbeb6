"""The loop of a run: iterations, their history, and the test that ends them."""
