"""Messages between the kernel and the browser: publisher, links with credit, rate limits, worker threads."""
