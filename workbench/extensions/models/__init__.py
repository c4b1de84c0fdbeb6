"""Models of machines that are not here: times of schedules on cores, GPUs and clusters."""
