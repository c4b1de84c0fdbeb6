"""Declared dependencies and their installed versions, without importing them."""

from __future__ import annotations

import re
from importlib import metadata

DISTRIBUTION = "cg-workbench"
BASE = "base"


def declared() -> dict[str, tuple[str, ...]]:
    """Package names by extra, `base` first, from the installed metadata; empty if the workbench is not installed.

    A package with several entries for different systems is listed once.
    """
    try:
        lines = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return {}
    groups: dict[str, dict[str, None]] = {BASE: {}}
    for line in lines:
        name = re.match(r"[\w.-]+", line)
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", line)
        if name:
            groups.setdefault(extra[1] if extra else BASE, {})[name[0]] = None
    return {group: tuple(names) for group, names in groups.items()}


def version(name: str) -> str | None:
    """The installed version, or None. Cost: about 0.2 ms."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def versions(names: tuple[str, ...]) -> dict[str, str | None]:
    """The installed version of each package."""
    return {name: version(name) for name in names}
