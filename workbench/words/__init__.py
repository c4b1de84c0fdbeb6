"""Words for people: names of blocks and runs, and numbers with units."""
