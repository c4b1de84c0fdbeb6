"""`sparse` of SciPy, imported when it is first used: that takes 0.2 s, and many runs use none of it.

Import it as `from workbench.lazy_scipy import sparse` where a run that needs no sparse matrix imports the module.
"""

from __future__ import annotations

import importlib
import types
from typing import TYPE_CHECKING, Any


class _Later(types.ModuleType):
    """A module that is imported with the first attribute that is asked for; each attribute is kept."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    from scipy import sparse as sparse
else:
    sparse = _Later("scipy.sparse")
