"""Flows, stepped and watched."""
