"""The setup of a run on a device, from its configuration or from arrays."""
