"""Pipelined CG on an accelerator and the CPU cores together: one file per schedule, and a selector."""
