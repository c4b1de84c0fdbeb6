"""Extensions of the Jupyter servers started by `make lab` and `make app`."""

from workbench.server.connection import NoDelayConnection
from workbench.server.cookie import set_xsrf_cookie
from workbench.server.kernels import PageKernelManager, PageKernels

__all__ = ["NoDelayConnection", "PageKernelManager", "PageKernels", "set_xsrf_cookie"]
