"""The sides of a box as boxes to tick."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from workbench.live.ui.form_fields import Field
from workbench.problems.sides import Boundary, parse_sides, side_names
from workbench.registry import Parameter


class SidesField(Field):
    """A problem's parameter `sides`; ticked is Dirichlet, empty is Neumann. The sides are first those of a square."""

    def __init__(self, declared: Parameter, owner: str = "run", **looks: object) -> None:
        super().__init__(declared, owner, **{"kind": "sides", **looks})
        self.options = side_names(2)

    def put(self, value: object) -> None:
        self.value = value

    def turn(self, dimensions: int) -> None:
        """Offer the sides of a square or of a cube; those that are new are as the parameter's default has them."""
        usual = parse_sides(self.declared.default, dimensions)
        before = parse_sides(str(self.value), self.dimensions)
        self.options = side_names(dimensions)
        self.value = sides_text({side: before.get(side, usual[side]) for side in self.options})

    def typed(self, text: Collection[str]) -> None:
        """Take the sides that are ticked; a text that says the same stays as it was written."""
        if set(text) != set(self.shown):
            fixed, wall = Boundary.DIRICHLET, Boundary.NEUMANN
            self.value = sides_text({side: fixed if side in text else wall for side in self.options})

    @property
    def dimensions(self) -> int:
        """2 or 3."""
        return len(self.options) // 2

    @property
    def shown(self) -> list[str]:
        """The sides that are ticked."""
        sides = parse_sides(str(self.value), self.dimensions)
        return [side for side, boundary in sides.items() if boundary is Boundary.DIRICHLET]


def sides_text(sides: Mapping[str, str]) -> str:
    """Conditions by side as the parameter `sides` has them, in the shortest form."""
    conditions = {str(boundary) for boundary in sides.values()}
    if len(conditions) == 1:
        return conditions.pop()
    return ",".join(f"{side}:{boundary}" for side, boundary in sides.items() if boundary != Boundary.NEUMANN)
