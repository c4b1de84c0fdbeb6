"""Machine profiles: bandwidths, latencies and peaks with their sources, from data/machines or from `calibrate`."""

from __future__ import annotations

import dataclasses
import functools
import sys
import tomllib
from pathlib import Path
from typing import Any

import tomli_w

from workbench.errors import InputError, printable_path
from workbench.files import read_bytes
from workbench.files.data_files import data_folder
from workbench.registry import unknown_name

__all__ = ["Number", "Profile", "profile", "profiles"]

MAX_BYTES = 1 << 16
"""Limit for the size of a profile file."""
KINDS = ("cpu", "gpu")
BASES = ("nominal", "measured", "assumed")
QUANTITIES = {
    "bandwidth_nominal": "B/s",
    "bandwidth_measured": "B/s",
    "flops": "1/s",
    "launch_latency": "s",
    "to_device_bandwidth": "B/s",
    "to_device_latency": "s",
    "to_host_bandwidth": "B/s",
    "to_host_latency": "s",
    "memory_bytes": "B",
    "cache_bytes": "B",
    "gpus_per_node": "GPUs",
    "ranks_per_node": "ranks",
    "peer_bandwidth": "B/s",
    "peer_latency": "s",
    "network_bandwidth": "B/s",
    "network_latency": "s",
}
"""The optional numeric fields of a profile, and their units."""


@dataclasses.dataclass(frozen=True)
class Number:
    """A number with its source.

    basis: `nominal`, the vendor's specification; `measured`; or `assumed`, with the reason as source.

    Examples:
        >>> from workbench.machines.profile import Number
        >>> Number(208e9, "nominal", "data sheet").value
        208000000000.0
    """

    value: float
    basis: str
    source: str


@dataclasses.dataclass(frozen=True)
class Profile:
    """The performance of a machine. Bandwidths in bytes per second, latencies in seconds, sizes in bytes.

    bandwidth_measured: of streaming kernels, with each vector counted once per pass. flops: double-precision operations
    per second. launch_latency: time of a kernel in addition to its memory traffic. to_device, to_host: copies between
    host and accelerator. cache_bytes: the last-level cache. ranks_per_node: of a cluster, whose other numbers are
    those of a node. peer: messages of a GPU or a rank to others of its node, in each direction; network: the same to
    those of other nodes.

    Examples:
        >>> from workbench.machines.profile import Number, Profile
        >>> mine = Profile("mine", "My machine", "cpu", bandwidth_measured=Number(40e9, "measured", "triad"))
        >>> mine.bandwidth.value, Profile.from_dict(mine.to_dict()) == mine
        (40000000000.0, True)
    """

    name: str
    title: str
    kind: str
    bandwidth_nominal: Number | None = None
    bandwidth_measured: Number | None = None
    flops: Number | None = None
    launch_latency: Number | None = None
    to_device_bandwidth: Number | None = None
    to_device_latency: Number | None = None
    to_host_bandwidth: Number | None = None
    to_host_latency: Number | None = None
    memory_bytes: Number | None = None
    cache_bytes: Number | None = None
    gpus_per_node: Number | None = None
    ranks_per_node: Number | None = None
    peer_bandwidth: Number | None = None
    peer_latency: Number | None = None
    network_bandwidth: Number | None = None
    network_latency: Number | None = None
    notes: str = ""

    @property
    def bandwidth(self) -> Number:
        """Memory bandwidth, measured if available, else nominal. Raises InputError if neither is known."""
        return self.bandwidth_measured or self.bandwidth_nominal or self.required("bandwidth_nominal")

    def required(self, quantity: str) -> Number:
        """A number of the profile. Raises InputError if it is missing."""
        number = getattr(self, quantity)
        if number is None:
            raise InputError(
                f"the profile {self.name} has no {quantity.replace('_', ' ')}; "
                f"add [{quantity}] with value, basis and source to a copy of it"
            )
        return number

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without unknown quantities."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value not in (None, "")}

    def to_toml(self) -> str:
        """The text of a profile file."""
        return tomli_w.dumps(self.to_dict())

    @classmethod
    def from_dict(cls, plain: dict[str, Any], where: str = "the profile") -> Profile:
        """The inverse of `to_dict`. Raises InputError, starting with `where`, for invalid data."""
        known = {field.name for field in dataclasses.fields(cls)}
        for key in plain:
            if key not in known:
                raise InputError(f"{where}: {unknown_name('field', key, sorted(known))}")
        for key in ("name", "title", "kind"):
            if not isinstance(plain.get(key), str):
                raise InputError(f"{where} must have a {key}, in quotes")
        if plain["kind"] not in KINDS:
            raise InputError(f"{where}: {unknown_name('kind', plain['kind'], KINDS)}")
        numbers = {key: _number(plain[key], f"{where}: {key}") for key in QUANTITIES if key in plain}
        return cls(**{**plain, **numbers})


def profiles() -> dict[str, Profile]:
    """The profiles shipped with the workbench, by name.

    Examples:
        >>> from workbench.machines.profile import profiles
        >>> "k20m" in profiles()
        True
    """
    return _profiles(data_folder() / "machines")


def profile(machine: str) -> Profile:
    """A profile by name, or from a .toml file written by `workbench calibrate`. Raises InputError for unknown names.

    Examples:
        >>> from workbench.machines.profile import profile
        >>> profile("k20m").kind
        'gpu'
    """
    if machine.endswith(".toml"):
        return load_profile(Path(machine))
    known = profiles()
    if machine.lower() not in known:
        raise InputError(f"{unknown_name('machine', machine.lower(), known)}; or pass the path of a .toml file")
    return known[machine.lower()]


def load_profile(path: Path) -> Profile:
    """Read a profile file. Raises InputError if it is missing or invalid."""
    try:
        plain = tomllib.loads(read_bytes(path, MAX_BYTES, "machine profile").decode())
    except InputError as error:
        raise InputError(f"{error}; `workbench calibrate --output {printable_path(path)}` writes one") from None
    # Deep nesting raises RecursionError, a number with thousands of digits ValueError.
    except (ValueError, RecursionError) as error:
        raise InputError(f"{printable_path(path)} is not valid TOML: {error}") from None
    return Profile.from_dict(plain, printable_path(path))


@functools.cache
def _profiles(folder: Path) -> dict[str, Profile]:
    found = [load_profile(path) for path in sorted(folder.glob("*.toml"))]
    return {profile.name: profile for profile in found}


def _number(plain: Any, where: str) -> Number:
    if not isinstance(plain, dict) or set(plain) != {"value", "basis", "source"}:
        raise InputError(f"{where} must have value, basis and source, and nothing else")
    value = plain["value"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= sys.float_info.max:
        raise InputError(f"{where} must have a positive finite value, got {value!r}")
    if plain["basis"] not in BASES:
        raise InputError(f"{where}: {unknown_name('basis', str(plain['basis']), BASES)}")
    if not isinstance(plain["source"], str) or not plain["source"].strip():
        raise InputError(f"{where} must have a source that is not empty")
    return Number(float(value), plain["basis"], plain["source"])
