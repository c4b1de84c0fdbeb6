"""Answers of other programs: a library that is loaded in a process of its own cannot end or change this one."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

SECONDS = 30


def answer_of(command: list[str], environment: Mapping[str, str] | None = None) -> tuple[str, str]:
    """The output of a command, and in one line why it fails, empty if it does not. environment: by default the present
    one."""
    try:
        ended = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"no answer in {SECONDS} s"
    except OSError as error:
        return "", error.strerror or str(error)
    lines = ended.stderr.strip().splitlines() or [f"it ended with status {ended.returncode}"]
    return (ended.stdout, "") if ended.returncode == 0 and ended.stdout.strip() else ("", lines[-1].rstrip(". "))
