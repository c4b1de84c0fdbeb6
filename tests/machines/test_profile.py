"""Machine profiles: sources of numbers, files, and errors."""

import tomllib

import pytest

from workbench.errors import InputError
from workbench.files.data_files import data_folder
from workbench.machines.profile import QUANTITIES, Number, Profile, load_profile, profile, profiles

PAPERS = {"k20m", "k40", "v100", "c2070", "rtx2080s", "q9550", "i5-8250u", "xeon-16", "xeon-32", "gtx1060"}


def test_the_machines_of_the_papers_are_included():
    assert PAPERS | {"h200"} <= set(profiles())
    for name in profiles():
        assert (data_folder() / "machines" / f"{name}.toml").is_file()


@pytest.mark.parametrize("name", sorted(profiles()))
def test_every_number_is_plausible_and_sourced(name):
    about = profile(name)
    assert about.kind in ("cpu", "gpu")
    numbers = {key: getattr(about, key) for key in QUANTITIES if getattr(about, key)}
    assert "bandwidth_nominal" in numbers
    assert all(len(number.source) > 10 for number in numbers.values())
    assert all(
        number.source.startswith(("assumed", "the same")) for number in numbers.values() if number.basis == "assumed"
    )
    assert 1e9 < about.bandwidth.value < 1e13
    assert about.bandwidth.value <= about.bandwidth_nominal.value
    assert all(1e-7 < numbers[key].value < 1e-3 for key in numbers if key.endswith("latency"))
    assert all(
        1e9 < numbers[key].value < 1e12 for key in ("to_device_bandwidth", "to_host_bandwidth") if key in numbers
    )


def test_a_profile_is_read_back_from_its_file(tmp_path):
    title = 'A "machine", 2 cores\\ \x07\x7f\n'
    made = Profile("mine", title, "cpu", notes="after it", launch_latency=Number(1e-5, "measured", "here, a loop"))
    path = tmp_path / "mine.toml"
    path.write_text(made.to_toml(), encoding="utf-8")
    assert profile(str(path)) == made
    for name in profiles():
        assert Profile.from_dict(tomllib.loads(profile(name).to_toml())) == profile(name)


def test_names_are_case_insensitive():
    assert profile("V100") is profile("v100")
    with pytest.raises(InputError, match="unknown machine 'v10'; did you mean v100"):
        profile("v10")


def test_missing_quantities_are_refused():
    empty = Profile("mine", "mine", "gpu")
    with pytest.raises(InputError, match=r"^the profile mine has no bandwidth nominal; add \[bandwidth_nominal\]"):
        _ = empty.bandwidth
    with pytest.raises(InputError, match="has no to host bandwidth"):
        empty.required("to_host_bandwidth")


HEAD = 'name = "m"\ntitle = "m"\nkind = "cpu"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not valid TOML"),
        ('name = "m"\nkind = "cpu"', "must have a title, in quotes"),
        ('name = "m"\ntitle = "m"\nkind = "cpus"', "unknown kind 'cpus'; did you mean cpu"),
        (HEAD + "[flop]\nvalue = 1", "unknown field 'flop'; did you mean flops"),
        (HEAD + "[flops]\nvalue = 1", "flops must have value, basis and source, and nothing else"),
        (HEAD + '[flops]\nvalue = -1\nbasis = "nominal"\nsource = "x"', "positive finite value, got -1"),
        (HEAD + '[flops]\nvalue = inf\nbasis = "nominal"\nsource = "x"', "positive finite value, got inf"),
        (HEAD + '[flops]\nvalue = 1\nbasis = "guessed"\nsource = "x"', "unknown basis 'guessed'"),
        (HEAD + '[flops]\nvalue = 1\nbasis = "nominal"\nsource = " "', "must have a source"),
    ],
)
def test_invalid_profiles_are_refused(tmp_path, text, message):
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_profile(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file_suggests_calibrate(tmp_path):
    with pytest.raises(InputError, match="no machine profile at .*; `workbench calibrate --output"):
        profile(str(tmp_path / "none.toml"))


def test_sources_are_papers_and_not_names_of_files():
    stems = [path.stem for path in (data_folder() / "papers").glob("*.toml")]
    for one in profiles().values():
        assert not [stem for stem in (*stems, "hybrid_pipecg_") if stem in str(one.to_dict())]
