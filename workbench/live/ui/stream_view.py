"""The base of all canvases: a widget with a link, served by a publisher."""

from __future__ import annotations

from typing import Any

import traitlets

from workbench.errors import InputError
from workbench.live.transport.publisher import Link, PollAgain, Publisher
from workbench.live.ui.view import LiveWidget


class StreamView(LiveWidget):
    """A widget that a publisher keeps up to date. Subclasses send news in `publish`.

    group: views with the same name in it show the iteration and the kernel that are pointed at in one of them; "" for
    none.
    """

    group = traitlets.Unicode("").tag(sync=True)

    def __init__(self, publisher: Publisher | None = None, **traits: Any) -> None:
        if not isinstance(publisher, Publisher | None):
            shown = "; make it without one, and show a run by its method follow" if hasattr(self, "follow") else ""
            raise InputError(f"{type(self).__name__} takes a Publisher, got a {type(publisher).__name__}{shown}")
        super().__init__(**traits)
        self._own = publisher is None
        self.publisher = publisher or Publisher()
        self.link = Link(self.send, self.publisher.wake)
        self.on_msg(self._receive)
        self.publisher.add(self.publish)

    def close(self) -> None:
        """Take the view off the page; what served it alone ends."""
        # ipywidgets closes what Python frees, also a view whose making failed before it had a publisher.
        if hasattr(self, "publisher"):
            self.publisher.remove(self.publish)
            if self._own:
                self.publisher.close()
        super().close()

    def publish(self) -> PollAgain:
        """Send what is new if the link is free, and say whether more is to come without a wake-up. Called by one
        thread."""
        raise TypeError(f"{type(self).__name__} does not say what it publishes")

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        if isinstance(content, dict):
            self.link.receive(content)
