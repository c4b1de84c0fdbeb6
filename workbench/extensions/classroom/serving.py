"""Names of the parts of the server, by which commands start it; none of them is imported for that."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Serving:
    """module: the program that serves the page. connection: the class of the connections of a Jupyter server to its
    pages. contents: the class by which JupyterLab lists files."""

    module: str
    connection: str
    contents: str


SERVING = Serving(
    module="workbench.extensions.classroom.server.page_server",
    connection="workbench.extensions.classroom.server.NoDelayConnection",
    contents="workbench.extensions.classroom.server.lab_contents.LabContents",
)
