"""Reproduction of published tables and figures: each is a function that runs the solves and compares with print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import exported

if TYPE_CHECKING:
    from workbench.extensions.papers.catalogue import PAPERS, Paper, item_of, papers, reproduce, target_of
    from workbench.extensions.papers.reproduction import Reproduction, Target

__all__ = ["PAPERS", "Paper", "Reproduction", "Target", "item_of", "papers", "reproduce", "target_of"]

__getattr__ = exported(
    __name__,
    {
        "catalogue": ["PAPERS", "Paper", "item_of", "papers", "reproduce", "target_of"],
        "reproduction": ["Reproduction", "Target"],
    },
)
