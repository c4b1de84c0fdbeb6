"""Extensions of the Jupyter servers started by `make lab` and `make app`."""

import sys
from typing import Any, cast

# jsonschema checks two formats, which no schema of Jupyter has, by a package whose import compiles a grammar 38 times:
# 1.4 s, two thirds of the start. It does without where that package is missing.
sys.modules.setdefault("rfc3987_syntax", cast(Any, None))

from workbench.extensions.classroom.server.connection import NoDelayConnection  # noqa: E402
from workbench.extensions.classroom.server.cookie import set_xsrf_cookie  # noqa: E402
from workbench.extensions.classroom.server.kernels import PageKernelManager, PageKernels  # noqa: E402
from workbench.extensions.classroom.server.page_connection import PageConnection  # noqa: E402

__all__ = ["NoDelayConnection", "PageConnection", "PageKernelManager", "PageKernels", "set_xsrf_cookie"]
