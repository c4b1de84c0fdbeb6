"""Workers of a Dask cluster: boxes of Schwarz methods, the sums of their terms, and sweeps."""
