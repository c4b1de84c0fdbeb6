"""Methods line by line: the values after any line of any iteration."""
