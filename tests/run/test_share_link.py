"""A configuration handed on as Python, as a command, as a link or as a file is the same configuration."""

from __future__ import annotations

import base64
import json
import shlex
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from tests.conftest import refusal
from workbench.cli import program
from workbench.cli.solving import configuration_of
from workbench.errors import InputError
from workbench.registry import Former, Parameter
from workbench.registry import blocks as registry
from workbench.run import Configuration, Stopping, configure, user_solver
from workbench.run.choices.in_memory import InMemoryProblem
from workbench.run.choices.link_codec import LINK, LONGEST, MOST_BYTES, file_text
from workbench.run.choices.share_link import (
    from_link,
    load_configuration,
    save_configuration,
    to_command,
    to_link,
    to_python,
    to_script,
)
from workbench.settings import BLOCKS, RUN, Norm

TEXTS = {
    "sides": st.sampled_from(["neumann", "dirichlet", "x-:dirichlet,y+:dirichlet"]),
    "matrix": st.sampled_from(["bcsstk15", "HB/bcsstk16", "Group/some-name.1"]),
    "bubbles": st.just(""),
    **dict.fromkeys("abcf", st.sampled_from(["1", "where(x < 0.5, 1, 1000)", "1+x**2 if y<=0.25 else exp(-y)", " 2 "])),
}
"""What a text parameter may hold where not every text will do."""
PATHS = st.one_of(
    st.text(max_size=12), st.sampled_from(['a,b="c"', "x=y.npy", "(", 'q",(\\', "it's", " $HOME/a b.mtx "])
)


def value_of(declared):
    if declared.choices:
        return st.sampled_from(declared.choices)
    if declared.kind is bool:
        return st.booleans()
    if declared.kind is int:
        return st.integers(declared.low, min(declared.high, declared.low + 300))
    if declared.kind is float:
        return st.floats(declared.low, declared.high)
    return TEXTS.get(declared.name, PATHS.map(lambda text: text.encode("utf-8", "ignore").decode().replace("\0", "")))


@st.composite
def block_of(draw, kind):
    cls = draw(st.sampled_from(list(registry.registered(kind).values())))
    declared = cls.parameters()
    some = draw(st.sets(st.sampled_from(declared), max_size=3)) if declared else ()
    values = {one.name: draw(value_of(one)) for one in some}
    try:
        return cls.create(values)
    except InputError:
        assume(False)


STOPPINGS = st.builds(
    Stopping,
    rtol=st.floats(1e-300, 1),
    atol=st.floats(0, 1e300),
    norm=st.sampled_from([norm.value for norm in Norm]),
    maxiter=st.none() | st.integers(0, 10**9),
    max_seconds=st.none() | st.floats(1e-9, 1e9) | st.just(float("inf")),
    stagnation=st.integers(1, 10**6),
    check_every=st.none() | st.integers(1, 10_000),
    true_every=st.none() | st.integers(1, 10**6),
)
CONFIGURATIONS = st.builds(
    Configuration,
    **{kind: block_of(kind) for kind in ("problem", *BLOCKS)},
    device=st.sampled_from(["cpu", "auto", "opencl:side by side", "cuda:1"]),
    memory_limit=st.none() | st.integers(1, 2**50),
    stopping=st.just(Stopping()) | STOPPINGS,
    rhs=st.sampled_from(RUN["rhs"].choices),
    x0=st.sampled_from(RUN["x0"].choices),
    seed=st.integers(0, 2**64),
)
MANY = settings(max_examples=150, suppress_health_check=[HealthCheck.filter_too_much])


def by_command(text):
    words = shlex.split(text)
    assert words[0] == "workbench"
    return configuration_of(program.parser(words[1]).parse_args(words[1:]))


def by_python(text):
    namespace: dict = {}
    exec(text, namespace)
    return namespace["configuration"]


@MANY
@given(CONFIGURATIONS)
@example(configure("two-layer"))
def test_every_way_leads_back(configuration):
    assert by_python(to_python(configuration)) == configuration
    assert by_command(to_command(configuration)) == configuration
    link = to_link(configuration)
    assert from_link(link) == configure(link) == configuration
    assert set(link) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")


@MANY
@given(st.data())
def test_a_block_is_read_back_from_its_text(data):
    kind = data.draw(st.sampled_from(registry.kinds()))
    block = data.draw(block_of(kind))
    assert registry.find(kind, block.text) == block


def test_the_texts_are_those_one_would_type():
    chosen = configure("two-layer", n=64, preconditioner="neumann:3", solver="hybrid3:share=0.5,fused=no")
    assert to_command(chosen) == (
        "workbench solve two-layer --n 64 --solver hybrid3:fused=False,share=0.5 --preconditioner neumann:3"
    )
    assert to_python(configure("two-layer", density_ratio=10, stopping=Stopping(rtol=1e-8))) == (
        "from workbench.run import Stopping, configure\n\n"
        'configuration = configure(\n    "two-layer",\n    density_ratio=10.0,\n    stopping=Stopping(rtol=1e-08),\n)\n'
    )


def test_the_script_runs_and_prints_how_it_ended(capsys):
    chosen = configure("two-layer", n=16, deflation="stripes:2", stopping=Stopping(rtol=1e-8))
    namespace: dict = {}
    exec(to_script(chosen), namespace)
    assert namespace["configuration"] == chosen
    result = namespace["result"]
    assert result.converged
    printed = f"{result.reason.sentence} {result.iterations} {result.true_relative_residual}\n"
    assert capsys.readouterr().out == printed


def test_a_link_of_an_earlier_workbench_keeps_its_meaning():
    """Its defaults were others."""
    chosen = from_link(packed({"problem": ["two-layer", {"n": 64}], "deflation": "stripes"}))
    assert chosen == configure("two-layer", n=64, deflation="stripes", coarse="cholesky", variant="def1")


def test_what_is_given_besides_a_link_replaces_what_it_says():
    link = to_link(configure("two-layer", n=64, solver="pipecg", stopping=Stopping(rtol=1e-3, maxiter=7)))
    changed = by_command(f"workbench solve {link} --n 32 --rtol 1e-4")
    assert changed == configure("two-layer", n=32, solver="pipecg", stopping=Stopping(rtol=1e-4, maxiter=7))
    assert configure(link, solver="cg", density_ratio=5).problem.differing == {"n": 64, "density_ratio": 5}


def test_a_file_holds_all_of_it(tmp_path):
    chosen = configure("poisson-2d", a="1+x", n=9, deflation="blocks:2", stopping=Stopping(atol=1e-9))
    path = save_configuration(chosen, tmp_path / "mine")
    assert path.name == "mine.cg.json"
    assert load_configuration(path) == configure(str(path)) == chosen
    assert by_command(f"workbench solve {shlex.quote(str(path))} --seed 3").seed == 3
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.cg.json"]


def packed(plain):
    return "cgw1." + base64.urlsafe_b64encode(zlib.compress(json.dumps(plain).encode())).decode().rstrip("=")


GOOD = to_link(configure("two-layer", n=64))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("two-layer", "a link begins with cgw1., got 'two-layer'"),
        ("cgw7.abc", "the link is of version 7, this workbench reads version 1"),
        ("cgw1.", "the link is truncated"),
        (GOOD[:-4], "the link is truncated"),
        (GOOD[:12] + "A" + GOOD[13:], "damaged"),
        (GOOD + "é", "damaged"),
        (GOOD + "AAAA", "truncated or has trailing characters"),
        ("cgw1." + "A" * LONGEST, f"at most {LONGEST} are allowed"),
        (packed([1]), "the link holds no configuration"),
        (packed({}), "the configuration has no problem"),
        (packed({"problem": "nosuch"}), "unknown problem 'nosuch'"),
        (packed({"problem": GOOD}), "unknown problem"),
        (packed({"problem": ["two-layer", {"m": 3}]}), "unknown parameter 'm'"),
        (packed({"problem": ["two-layer", {"n": [3]}]}), "n must be a whole number"),
        (packed({"problem": ["two-layer", {"n": 10**400}]}), "n must be between 4 and 46340"),
        (packed({"problem": ["two-layer", 3]}), "has no parameters for its problem"),
        (packed({"problem": ["two-layer", {}, {}]}), "a block is its name"),
        (packed({"problem": "two-layer", "solver": "jacobi"}), "unknown solver 'jacobi'"),
        (packed({"problem": "two-layer", "sede": 3}), "unknown entry 'sede'; did you mean seed?"),
        (packed({"problem": "two-layer", "seed": "3"}), "seed cannot be '3'"),
        (packed({"problem": "two-layer", "seed": True}), "seed cannot be 'True'"),
        (packed({"problem": "two-layer", "seed": -1}), "seed must be at least 0"),
        (packed({"problem": "two-layer", "device": 1}), "device cannot be '1'"),
        (packed({"problem": "two-layer", "stopping": {"rtol": None}}), "rtol cannot be 'None'"),
        (packed({"problem": "two-layer", "stopping": {"rtol": 10**400}}), "rtol"),
        (packed({"problem": "two-layer", "stopping": {"never": 1}}), "stopping criteria"),
        (packed({"problem": "two-layer", "stopping": 3}), "stopping criteria"),
        (packed({"problem": "poisson-2d", "solver": "cg", "x0": "one"}), "unknown x0 'one'"),
    ],
)
def test_a_bad_link_gets_one_sentence(text, sentence):
    said = refusal(from_link, text)
    assert sentence in said
    assert "\n" not in said


def test_a_bomb_and_deep_nesting_are_bounded():
    bomb = "cgw1." + base64.urlsafe_b64encode(zlib.compress(b" " * 30_000_000, 9)).decode().rstrip("=")
    assert len(bomb) < LONGEST
    with pytest.raises(InputError, match=f"unpacks to more than {MOST_BYTES} bytes"):
        from_link(bomb)
    nested = "cgw1." + base64.urlsafe_b64encode(zlib.compress(b"[" * 200_000)).decode().rstrip("=")
    with pytest.raises(InputError, match="holds no configuration"):
        from_link(nested)


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=80), st.binary(max_size=80).map(lambda some: packed(some.hex()))))
def test_any_text_is_refused_with_a_sentence(text):
    with pytest.raises(InputError):
        from_link(f"cgw1.{text}")


def test_line_breaks_in_a_link_do_no_harm():
    assert from_link(f"  {GOOD[:10]}\n{GOOD[10:]} ") == configure("two-layer", n=64)


def test_bad_files_get_one_sentence(tmp_path):
    path = tmp_path / "a.cg.json"
    with pytest.raises(InputError, match="no saved configuration at "):
        load_configuration(path)
    for content, sentence in (("{", "holds no configuration"), ('{"format": "cgw9"}', "is not a saved problem")):
        path.write_text(content)
        with pytest.raises(InputError, match=sentence):
            load_configuration(path)
    path.write_bytes(b" " * (MOST_BYTES + 9))
    with pytest.raises(InputError, match="has [0-9]+ bytes, a saved configuration has at most"):
        load_configuration(path)
    with pytest.raises(InputError, match="ends with .cg.json"):
        load_configuration(tmp_path / "a.mtx")


def test_what_is_held_in_memory_cannot_be_handed_on(tmp_path):
    held = configure(InMemoryProblem())
    for write in (to_python, to_script, to_command, to_link, lambda it: save_configuration(it, tmp_path / "x")):
        with pytest.raises(InputError, match="the problem is held in memory"):
            write(held)


def test_a_method_of_ones_own_is_refused_both_ways():
    own = user_solver("mine")
    with pytest.raises(InputError, match="save a run of it, which holds its lines"):
        to_link(configure("two-layer", solver=own))
    with pytest.raises(InputError, match="unknown solver 'own'"):
        from_link(packed({"problem": "two-layer", "solver": ["own", own.to_dict()["parameters"]]}))


def test_a_file_needs_a_name_that_can_be(tmp_path):
    chosen = configure("two-layer")
    for path, sentence in (("", "names no file"), ("~nosuchuser/a", "cannot be a path")):
        with pytest.raises(InputError, match=sentence):
            save_configuration(chosen, path)
    with pytest.raises(InputError, match="cannot be a path"):
        load_configuration(tmp_path / ("a" * 999 + ".cg.json"))


def test_numbers_of_numpy_are_handed_on_like_pythons():
    stopping = Stopping(rtol=np.float32(0.5), norm=Norm.NATURAL, maxiter=1e3, stagnation=np.float64(7), true_every=True)
    chosen = configure("two-layer", n=np.int64(8), seed=np.int64(3), x0=np.str_("zero"), stopping=stopping)
    assert by_python(to_python(chosen)) == by_command(to_command(chosen)) == from_link(to_link(chosen)) == chosen
    assert (chosen.seed, chosen.stopping.maxiter, chosen.stopping.rtol) == (3, 1000, 0.5)


@pytest.mark.parametrize(
    ("name", "contrast", "ratio"),
    [("two-layer", 50.0, 0.02), ("two-layer", 3, 1 / 3), ("bubbles-2d", 1e-6, 1e-6), ("slabs-3d", 0.5, 0.5)],
)
def test_links_and_files_with_the_former_name_of_the_density_ratio_keep_their_meaning(name, contrast, ratio, tmp_path):
    link = LINK.pack({"problem": [name, {"n": 16, "contrast": contrast}]})
    problem = configure(link).problem
    assert problem.differing == {"n": 16, "density_ratio": ratio}
    saved = configure(name, n=16).to_dict()
    saved["problem"]["parameters"]["contrast"] = contrast
    del saved["problem"]["parameters"]["density_ratio"]
    path = tmp_path / "old.cg.json"
    path.write_text(file_text(saved))
    assert configure(str(path)).problem == problem
    assert configure(f"{name}:16,contrast={contrast}").problem == problem
    assert type(problem)(n=16, contrast=contrast) == problem
    assert problem.contrast == pytest.approx(contrast)
    assert problem.changed({"contrast": contrast}) == problem


def test_a_link_without_the_density_ratio_has_the_default_that_it_had():
    coefficients = [configure(LINK.pack({"problem": name})).problem.assemble().coefficients for name in ("two-layer",)]
    assert coefficients == [(1.0, 1e-3)]


def test_both_names_of_the_density_ratio_and_a_former_value_without_reciprocal_are_refused():
    with pytest.raises(InputError, match="contrast is the former name of density_ratio; give one of the two"):
        configure("two-layer", contrast=10, density_ratio=0.1)
    with pytest.raises(InputError, match="two-layer: contrast must be between 1e-09 and 1e\\+09, got 0"):
        configure("two-layer", contrast=0)
    # Both ends are allowed: 1 / 1e-9 is a little below 1e9.
    assert [configure("two-layer", contrast=end).problem.density_ratio for end in (1e9, 1e-9)] == [1e-9, 1 / 1e-9]


@pytest.mark.parametrize(("name", "former"), [("two-layer", "contrast"), ("bubbles-2d", "contrast")])
def test_a_refused_value_is_named_as_it_was_given(name, former):
    for value in (1e10, "1e-10", "many"):
        with pytest.raises(InputError, match=f"^{name}: {former} must be"):
            configure(name, **{former: value})
    with pytest.raises(InputError, match=f"^{name}: density_ratio must be between"):
        configure(name, density_ratio=1e10)
    # Bounds of a reciprocal are the reciprocals of the bounds.
    declared = Parameter("ratio", float, 1.0, "a ratio", low=0.5, high=8.0)
    with pytest.raises(InputError, match="^inverse must be between 0.125 and 2, got 3"):
        Former("ratio", reciprocal=True).present("inverse", 3, declared)
