"""Algorithms line by line, user-written methods, schedules of the devices."""
