"""JupyterHub in front of the workbench: each person signs in and has a server of their own, with limits.

    pip install jupyterhub jupyterhub-systemdspawner
    sudo jupyterhub --config deploy/jupyterhub_config.py

The machine has systemd; `workbench` is installed with its extras app and lab, and jupyter-server-proxy, in the
environment that WORKBENCH_ENVIRONMENT names. See docs/teaching.md, "More than one machine".
"""

import os
from pathlib import Path

c = get_config()  # noqa: F821 - traitlets puts it there

HERE = Path(__file__).resolve().parent
ENVIRONMENT = Path(os.environ.get("WORKBENCH_ENVIRONMENT", "/opt/workbench/.venv"))
HOST = os.environ.get("WORKBENCH_HOST", "workbench.example")

# TLS is spoken by a proxy in front, such as that of nginx.conf with this port.
c.JupyterHub.bind_url = "http://127.0.0.1:8000/"

# A unit of systemd for each person, under a user that lasts as long as the unit.
c.JupyterHub.spawner_class = "systemd"
c.SystemdSpawner.dynamic_users = True
c.SystemdSpawner.mem_limit = "2G"
c.SystemdSpawner.cpu_limit = 2.0
c.SystemdSpawner.isolate_tmp = True
c.SystemdSpawner.isolate_devices = True
c.SystemdSpawner.disable_user_sudo = True
c.SystemdSpawner.unit_extra_properties = {"TasksMax": "500", "RuntimeDirectoryPreserve": "no"}

# The person's server is Jupyter's, which asks the hub who comes; behind it runs the page, at /workbench/.
c.Spawner.cmd = [str(ENVIRONMENT / "bin" / "jupyterhub-singleuser")]
c.Spawner.args = [f"--config={HERE / 'jupyter_server_config.py'}"]
c.Spawner.environment = {"WORKBENCH_HOST": HOST}
c.Spawner.default_url = "/workbench/"
c.Spawner.start_timeout = 120

# A server that nobody has used for an hour is ended: pip install jupyterhub-idle-culler
c.JupyterHub.load_roles = [
    {"name": "idle", "scopes": ["list:users", "read:users:activity", "delete:servers"], "services": ["idle"]}
]
c.JupyterHub.services = [
    {"name": "idle", "command": [str(ENVIRONMENT / "bin" / "python"), "-m", "jupyterhub_idle_culler", "--timeout=3600"]}
]
