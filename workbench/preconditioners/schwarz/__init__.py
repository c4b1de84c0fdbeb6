"""Additive Schwarz: solves in overlapping subdomains, in this process or on the workers of a cluster."""
