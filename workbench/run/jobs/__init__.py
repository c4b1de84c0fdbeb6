"""Jobs: runs in threads and in queues, races and sweeps."""
