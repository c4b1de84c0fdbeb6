"""NVIDIA's AmgX as a preconditioner, by pyamgx."""
