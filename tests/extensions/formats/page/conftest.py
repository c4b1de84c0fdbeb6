"""The fixtures of tests of the page."""

from tests.live.conftest import *  # noqa: F403
