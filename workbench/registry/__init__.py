"""The registry: every choice of the workbench is a frozen dataclass with declared parameters, registered under a name.

`blocks` has them and finds them, `parameters` are what they declare, `text` is how one is written, `facts` what menus
say about one, and `extensions` what others add.
"""

# ruff: noqa: F401
from workbench.registry.blocks import (
    Block,
    add_package,
    as_block,
    catalogue,
    find,
    from_dict,
    kinds,
    known,
    lookup,
    register,
    register_unlisted,
    registered,
)
from workbench.registry.parameters import Former, Parameter, Value, of_any_case, parameter, unknown_name

__all__ = ["Block", "Former", "Parameter", "catalogue", "find", "parameter", "register"]
"""Names that users write blocks with; the other names are for the workbench."""
