"""The page behind a Jupyter server, by jupyter-server-proxy: each person of a JupyterHub has one of their own."""

import os
import sys

c = get_config()  # noqa: F821 - traitlets puts it there

# The hub limits what all pages of a person take together; these bound a run.
c.ServerProxy.servers = {
    "workbench": {
        "command": [
            sys.executable,
            "-m",
            "workbench",
            "app",
            "--no-browser",
            "--port={port}",
            "--Voila.base_url={base_url}workbench/",
            "--PageServer.hosts=" + os.environ.get("WORKBENCH_HOST", "workbench.example"),
            "--PageKernels.all_memory=1GB",
            "--PageKernels.run_seconds=120",
            "--PageKernels.most_pages=4",
        ],
        "absolute_url": True,
        "timeout": 300,
        "launcher_entry": {"title": "Workbench"},
    }
}
