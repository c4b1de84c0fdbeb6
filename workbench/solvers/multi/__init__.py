"""Methods with several search directions per iteration."""
