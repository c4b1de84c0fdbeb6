"""The model of several GPUs: that of one GPU, sums and messages by hand, limits of strong scaling."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from workbench.devices.clock import NETWORK, WAITING, lane_order
from workbench.devices.dry_run import Sizes
from workbench.errors import InputError
from workbench.extensions.models.schedules import METHODS, expected
from workbench.extensions.models.several_gpus import ON_SEVERAL, all_expected_on, expected_on, scaling
from workbench.extensions.models.shared_rows import HALO as EXCHANGE
from workbench.extensions.models.shared_rows import Fabric
from workbench.machines.profile import Number, Profile, profile, profiles
from workbench.machines.retime import Machine
from workbench.records import hidden_fraction

COUNTS = [2**k for k in range(11)]


def number(value):
    return Number(value, "assumed", "a test")


def a_machine(bandwidth=1e12, launch=1e-6, memory=1e12):
    named = {"bandwidth_nominal": number(bandwidth), "launch_latency": number(launch)}
    return Machine(
        Profile("c", "cores", "cpu", number(1e11)), Profile("g", "a GPU", "gpu", **named, memory_bytes=number(memory))
    )


HALO = EXCHANGE.format("A")
FABRIC = Fabric(per_node=4, link=1e11, link_latency=2e-6, network=1e10, network_latency=5e-6)


@pytest.mark.parametrize("method", ON_SEVERAL)
@pytest.mark.parametrize("sizes", [Sizes(999, 6500), Sizes(10**7, 27 * 10**7)])
def test_one_gpu_is_the_model_of_one_gpu(method, sizes):
    machine = a_machine()
    assert expected_on(method, sizes, machine, FABRIC, 1).seconds == pytest.approx(
        expected(method, sizes, machine).seconds, rel=1e-12
    )


def test_an_all_reduce_doubles_in_nodes_and_then_between_them():
    assert FABRIC.all_reduce(1, 8) == 0
    assert FABRIC.all_reduce(4, 8) == pytest.approx(2 * (2e-6 + 8e-11))
    assert FABRIC.all_reduce(1024, 8) == pytest.approx(2 * (2e-6 + 8e-11) + 8 * (5e-6 + 8e-10))
    # Five GPUs are two nodes.
    assert FABRIC.all_reduce(5, 0) == pytest.approx(2 * 2e-6 + 5e-6)


def test_an_iteration_of_cg_by_hand():
    """10^6 rows of 27 entries on 8 GPUs: two all-reduces and one exchange of planes of 10^4 rows, nothing hidden."""
    machine, sizes = a_machine(), Sizes(10**6, 27 * 10**6)
    alone = expected("cg gpu", Sizes(125_000, 27 * 125_000), machine).seconds
    # The GPU in the middle, the fifth, is the first of its node: one plane through the link, one through the network.
    exchange = max(2e-6 + 8e4 / 1e11, 5e-6 + 8e4 / 1e10)
    sums = FABRIC.all_reduce(8, 8) + FABRIC.all_reduce(8, 3 * 8)
    assert expected_on("cg gpu", sizes, machine, FABRIC, 8).seconds == pytest.approx(alone + exchange + sums, rel=1e-9)


def test_pipelined_cg_hides_its_sum_behind_the_product():
    machine, sizes = a_machine(), Sizes(10**7, 27 * 10**7)
    alone = expected("pipecg gpu", Sizes(1_250_000, 27 * 1_250_000), machine).seconds
    exchange = 5e-6 + 8 * round(10 ** (14 / 3)) / 1e10
    assert expected_on("pipecg gpu", sizes, machine, FABRIC, 8).seconds == pytest.approx(alone + exchange, rel=1e-9)
    slow = Fabric(4, 1e11, 1.0, 1e10, 1.0)
    # A sum that takes seconds is not hidden: it begins after the pass and ends before the next one.
    found = expected_on("pipecg gpu", Sizes(1000, 7000), machine, slow, 4).seconds
    assert found == pytest.approx(2.0, rel=1e-3)


def test_where_slabs_are_thinner_than_a_plane_rows_come_from_several():
    """1000 rows, planes of 100, on 32 GPUs of 31 or 32 rows: a plane is on four neighbours."""
    machine, lone = a_machine(), Fabric(1, 1e11, 0.0, 1e10, 1.0)
    trace = expected_on("cg gpu", Sizes(1000, 7000), machine, lone, 32).trace
    spent = {event.lane: event.seconds for event in trace if event.name == HALO}
    nbytes = {event.lane: event.bytes for event in trace if event.name == HALO}
    assert nbytes == {"GPU 1": 800, "GPU 17": 1600, "GPU 32": 800}
    assert {lane: round(seconds) for lane, seconds in spent.items()} == dict.fromkeys(spent, 4)


def test_strong_scaling_flattens_where_messages_take_over():
    machine, sizes = a_machine(), Sizes(10**7, 7 * 10**7)
    for method in ON_SEVERAL:
        times = np.array(scaling(method, sizes, machine, FABRIC, COUNTS))
        assert times[1] < 0.6 * times[0]
        # At the end launches and messages are nearly all of it.
        launches = expected(method, Sizes(2, 2), machine).seconds
        assert times[-1] > 0.5 * (launches + FABRIC.all_reduce(1024, 8))
        assert times[-1] > times[0] / 1024 * 10
    cg, pipelined = (scaling(method, sizes, machine, FABRIC, [1024])[0] for method in ON_SEVERAL)
    assert pipelined < cg


def test_for_few_rows_the_sums_are_all_of_it():
    machine, sizes = a_machine(launch=1e-9), Sizes(4096, 7 * 4096)
    slow = Fabric(1, 1e11, 0.0, 1e12, 1e-3)
    seconds = expected_on("cg gpu", sizes, machine, slow, 64).seconds
    exchange = 4e-3  # A plane of 256 rows is on four neighbours of 64.
    assert seconds - exchange == pytest.approx(2 * math.log2(64) * 1e-3, rel=1e-3)


def test_lanes_are_the_first_one_in_the_middle_and_the_last():
    trace = expected_on("cg gpu", Sizes(10**6, 7 * 10**6), a_machine(), FABRIC, 1024).trace
    lanes = sorted({event.lane for event in trace}, key=lane_order)
    assert lanes == ["GPU 1", "GPU 513", "GPU 1024", NETWORK]
    assert trace.label == "modelled"
    assert any("nothing was measured" in note for note in trace.notes)
    assert hidden_fraction(trace) is None
    for lane in lanes:
        spans = [(event.start, event.end) for event in trace if event.lane == lane]
        assert all(first[1] <= second[0] * (1 + 1e-12) for first, second in itertools.pairwise(spans)), lane
    assert {event.name for event in trace if event.lane == "GPU 1"} > {WAITING, HALO}


def test_what_does_not_fit_or_is_not_modelled_says_why():
    sizes = Sizes(10**6, 7 * 10**6)
    small = a_machine(memory=50e6)
    assert "GB on each of 2 GPUs" in expected_on("cg gpu", sizes, small, FABRIC, 2).why
    assert expected_on("cg gpu", sizes, small, FABRIC, 16).seconds
    found = all_expected_on(sizes, a_machine(), FABRIC, 4)
    assert {name for name in METHODS if found[name].seconds} == set(ON_SEVERAL)
    assert found["hybrid3"].why == "it is modelled with one GPU alone"
    assert "leave fewer than two" in expected_on("cg gpu", Sizes(1000, 7000), a_machine(), FABRIC, 512).why
    for gpus in (0, 4097):
        with pytest.raises(InputError, match=f"the model has 1 to 4096 GPUs, got {gpus}"):
            expected_on("cg gpu", sizes, a_machine(), FABRIC, gpus)
    with pytest.raises(InputError, match="the profile c2070 has no gpus per node; add"):
        Fabric.of(profile("c2070"))


def test_profiles_with_a_network_have_all_of_its_numbers():
    known = [found for found in profiles().values() if found.gpus_per_node]
    assert {found.name for found in known} == {"k20m", "k40", "v100", "h200"}
    assert all(Fabric.of(found).per_node >= 1 for found in known)
