"""Views on one run: fields, spectrum and kernels, replay, block methods, multipreconditioned CG."""
