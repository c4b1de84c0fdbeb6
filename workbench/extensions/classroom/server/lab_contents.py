"""The files of `make lab`, without folders that it does not list."""

from __future__ import annotations

from typing import Any

import traitlets
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager


class LabContents(AsyncLargeFileManager):
    """Jupyter's files, except for folders by their paths; `hide_globs` of Jupyter knows names alone, of any folder."""

    unlisted = traitlets.List(
        traitlets.Unicode(),
        help="Folders that are not listed, by their paths from the root with /, such as lessons/solutions.",
    ).tag(config=True)

    async def _dir_model(self, path: str, content: bool = True) -> dict[str, Any]:
        """Jupyter's model of a folder, whose list lacks the unlisted ones; content: with that list."""
        model = await super()._dir_model(path, content)
        if content:
            model["content"] = [each for each in model["content"] if each["path"].strip("/") not in self.unlisted]
        return model
