"""Examples of deploy/: configurations load, and their commands start the server, as far as no daemon is needed."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from traitlets.config import PyFileConfigLoader

from tests.browser import lab
from tests.extensions.classroom.test_strangers import answers
from tests.waiting import until

DEPLOY = lab.REPOSITORY / "deploy"
UNIT = DEPLOY / "workbench.service"
NGINX = DEPLOY / "nginx.conf"
PROGRAM = "/opt/workbench/.venv/bin/workbench"
HOST = "workbench.example"


def configuration(name):
    """What a file of Jupyter's kind sets."""
    return PyFileConfigLoader(name, path=str(DEPLOY)).load_config()


def unit_command():
    """The arguments with which systemd would start the server, with its own %% read."""
    text = UNIT.read_text(encoding="utf-8").replace("\\\n", " ")
    program, *arguments = shlex.split(re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)[1].replace("%%", "%"))
    assert program == PROGRAM
    return arguments


def served(arguments, folder):
    """A server that a command of an example starts, on a free port."""
    _, env = lab._prepared(folder)
    fixed = [each for each in arguments if each != "--no-browser" and not each.startswith("--port=")]
    return lab.serving([sys.executable, "-m", "workbench", *fixed], folder, env)


def test_the_service_starts_a_server_for_its_proxy_and_for_no_other_name(tmp_path):
    with served(unit_command(), tmp_path) as url:
        status, text = answers(url, "/", Host=HOST)
        assert (status, "<title>CG workbench" in text) == (200, True)
        assert answers(url, "/", Host="evil.example")[0] == 403
        # The address that students get is the proxy's.
        log = tmp_path / "server.log"
        until(lambda: f"Students open https://{HOST}/\n" in log.read_text(encoding="utf-8"))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="the system has no systemd")
def test_systemd_finds_no_fault_in_the_service(tmp_path):
    made = tmp_path / UNIT.name
    made.write_text(UNIT.read_text(encoding="utf-8").replace(PROGRAM, sys.executable), encoding="utf-8")
    found = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(made)], capture_output=True, text=True, timeout=60, check=False
    )
    # Units of the system itself may have faults.
    assert UNIT.stem not in found.stderr


def test_the_proxy_passes_pages_and_their_connections_to_the_service():
    text = re.sub(r"#.*", "", NGINX.read_text(encoding="utf-8"))
    assert text.count("{") == text.count("}")
    port = next(each.partition("=")[2] for each in unit_command() if each.startswith("--port="))
    for needed in (
        f"proxy_pass http://127.0.0.1:{port};",
        "proxy_set_header Host $host;",
        "proxy_set_header Upgrade $http_upgrade;",
        "proxy_buffering off;",
        "limit_conn workbench_connections",
        "listen 443 ssl;",
        f"server_name {HOST};",
    ):
        assert needed in text


def test_the_proxy_lets_a_class_in_that_comes_at_once_from_one_address():
    """A page makes about 100 requests, by 6 connections of the browser and one that stays."""
    text = NGINX.read_text(encoding="utf-8")
    pages = next(int(each.partition("=")[2]) for each in unit_command() if "most_pages" in each)
    assert int(re.search(r"limit_conn \w+ (\d+);", text)[1]) >= 7 * pages
    assert int(re.search(r"burst=(\d+)", text)[1]) >= 100 * pages


def test_a_person_of_the_hub_has_a_page_below_an_address_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOST", HOST)
    (entry,) = configuration("jupyter_server_config.py").ServerProxy.servers.values()
    program, module, name, *arguments = (each.replace("{base_url}", "/user/ada/") for each in entry["command"])
    assert (program, module, name, entry["absolute_url"]) == (sys.executable, "-m", "workbench", True)
    with served(arguments, tmp_path) as url:
        assert answers(url, "/user/ada/workbench/", Host=HOST)[0] == 200
        assert answers(url, "/", Host=HOST)[0] == 404


def test_the_hub_gives_each_person_a_server_with_limits(monkeypatch):
    monkeypatch.setenv("WORKBENCH_ENVIRONMENT", "/opt/env")
    loaded = configuration("jupyterhub_config.py")
    limits = loaded.SystemdSpawner
    assert (limits.mem_limit, limits.cpu_limit, limits.dynamic_users) == ("2G", 2.0, True)
    assert loaded.Spawner.cmd == [os.path.join("/opt/env", "bin", "jupyterhub-singleuser")]
    (given,) = loaded.Spawner.args
    assert Path(given.partition("=")[2]) == DEPLOY / "jupyter_server_config.py"


def test_the_hubs_options_are_those_of_its_programs(monkeypatch):
    """Where they are installed; a wrong name would be a warning that nobody reads."""
    spawner = pytest.importorskip("systemdspawner").SystemdSpawner
    hub = pytest.importorskip("jupyterhub.app").JupyterHub
    loaded = configuration("jupyterhub_config.py")
    for cls, section in ((spawner, "SystemdSpawner"), (spawner, "Spawner"), (hub, "JupyterHub")):
        assert set(loaded[section]) <= set(cls.class_traits(config=True))
