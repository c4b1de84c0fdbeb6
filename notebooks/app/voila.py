"""How `make app` serves the workbench; Voila reads this file from the folder of `--Voila.config_file_paths`."""

import os
from pathlib import Path

from workbench.extensions.classroom.server.site import prepare_page

c = get_config()  # noqa: F821 - traitlets puts it there

# Every page has a kernel of its own, to which there is no way back once the page is left. The page then ends it, for
# which it needs a token; where it cannot, as when the browser crashes, the kernel is ended after two minutes, in a
# class after half an hour (`PageKernels`). A page that is open keeps its kernel, however long it is not touched.
# Kernels are forked from a process that has imported the workbench, and share its memory.
c.VoilaConfiguration.multi_kernel_manager_class = "workbench.extensions.classroom.server.PageKernels"
c.VoilaConfiguration.prelaunch_hook = prepare_page
# By its cookie the server knows a page of the teacher; the kernel is not given it.
c.VoilaConfiguration.http_header_envs = ["Cookie"]
c.MappingKernelManager.cull_interval = 30
c.MappingKernelManager.cull_connected = False

# A page whose output comes later than this many seconds after its cell was executed would stay empty; the default of
# 4 is too short where a class opens its pages at once.
c.VoilaExecutor.iopub_timeout = 120

# The browser must fetch nothing from elsewhere.
SOURCES = "'self' 'unsafe-inline' 'unsafe-eval' data: blob:"
c.Voila.tornado_settings = {
    "headers": {"Content-Security-Policy": f"default-src {SOURCES}; frame-ancestors 'self'"},
    "xsrf_cookie_kwargs": {"samesite": "Strict"},
}

c.Voila.kernel_websocket_connection_class = "workbench.extensions.classroom.server.PageConnection"

# The workbench is one page; the lessons are others, next to its folder.
notebooks = Path(__file__).parents[1]
c.Voila.root_dir = str(notebooks)
c.PageServer.lessons = str(notebooks / "lessons")

# The template of the page; Voila looks for it where Jupyter's data are.
data = str(Path(__file__).parent / "jupyter")
os.environ["JUPYTER_PATH"] = os.pathsep.join([data, *filter(None, [os.environ.get("JUPYTER_PATH")])])
c.VoilaConfiguration.template = "workbench"
c.VoilaConfiguration.theme = "light"
# Not by the address: a visitor would name any template that is installed.
c.VoilaConfiguration.allow_template_override = "NOTEBOOK"
c.VoilaConfiguration.allow_theme_override = "NO"
c.VoilaConfiguration.show_margins = False
