"""Views on modelled machines."""
