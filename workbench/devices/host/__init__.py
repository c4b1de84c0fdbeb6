"""Setup on the cores, for every device: numbering, aggregation, factorization, measurement of the machine."""
