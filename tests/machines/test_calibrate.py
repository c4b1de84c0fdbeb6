"""Calibration gives a profile that retiming can use."""

import pytest

from workbench.errors import InputError
from workbench.machines.calibrate import calibrate
from workbench.machines.profile import Profile, profile


def test_calibration_writes_a_profile(tmp_path, brief_measurements):
    made = calibrate("here")
    assert isinstance(made, Profile)
    assert (made.name, made.kind) == ("here", "cpu")
    assert made.bandwidth.basis == made.launch_latency.basis == "measured"
    # Wide bounds, for medians of a few passes that other work on the machine may hold up; units are thousands apart.
    assert 1e6 < made.bandwidth.value < 1e13
    assert 1e-7 < made.launch_latency.value < 0.1
    assert made.flops.basis == "measured"
    assert 1e7 < made.flops.value < 1e14
    path = tmp_path / "here.toml"
    path.write_text(made.to_toml())
    assert profile(str(path)) == made


@pytest.mark.parametrize("name", ["", "Two Words", "../up", "a/b"])
def test_invalid_names_are_refused(name):
    with pytest.raises(InputError, match="a machine's name consists of lower-case letters"):
        calibrate(name)
