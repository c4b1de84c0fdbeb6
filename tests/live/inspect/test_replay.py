"""Saved runs in all views, without the device they were made on."""

import dataclasses
import json
import subprocess
import sys

import pytest

from tests.live.conftest import ended
from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.live import Replay, open_run
from workbench.plots.figures import read_provenance
from workbench.records import load, save

ELSEWHERE = """
import json, sys, time
sys.modules["pyopencl"] = None
from tests.brief_measurements import BRIEF
from workbench.live import open_run
for brief in BRIEF:
    setattr(*brief)
replay = open_run(sys.argv[1], folder=sys.argv[2])
inside = replay.inside
while not (inside.spectrum and inside.roofline):
    time.sleep(0.05)
(curve,) = inside.convergence.curves
words = {"Spectrum": inside.spectrum.message.value, "Roofline": inside.roofline.message.value}
events = inside.timeline.trace.count
saved = [path.name for path in replay.save_bar.save("svg")]
print(json.dumps({"samples": curve.history.count, "events": events, "saved": saved, **words}))
"""


def made(folder, name="a.run.npz", **choices):
    return save(ended(n=16, trace=True, **choices).result.record(), folder / name)


def test_a_run_on_an_accelerator_opens_where_there_is_none(tmp_path):
    pytest.importorskip("pyopencl")
    path = made(tmp_path, device="opencl", deflation="stripes")
    command = [sys.executable, "-c", ELSEWHERE, str(path), str(tmp_path / "exports")]
    shown = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT).stdout)
    record = load(path)
    assert shown["samples"] == record.history.count
    assert shown["events"] == record.trace.count > 0
    assert "Effective condition number" in shown["Spectrum"]
    assert "(exact:" in shown["Spectrum"]
    assert "kernels, together" in shown["Roofline"]
    assert {name.partition("-")[0] for name in shown["saved"]} == {"convergence", "timeline"}
    for name in shown["saved"]:
        assert read_provenance(tmp_path / "exports" / name)["configuration"]["device"] == "opencl"


def test_what_is_no_run_is_a_sentence_and_the_run_before_stays(tmp_path, eventually):
    replay = open_run(made(tmp_path))
    damaged, foreign = tmp_path / "damaged.npz", tmp_path / "foreign.txt"
    damaged.write_bytes((tmp_path / "a.run.npz").read_bytes()[:500])
    foreign.write_text("no run at all")
    before = replay.record
    for path in (damaged, foreign):
        replay.path.value = str(path)
        eventually(lambda path=path: replay.status.text.startswith(f"{path} is not a workbench run file"))
    replay.path.value = str(tmp_path / "nowhere.npz")
    eventually(lambda: replay.status.text.startswith("no run file at"))
    assert replay.path.value == str(tmp_path / "nowhere.npz")
    replay.path.value = "~nosuchuser/a.npz"
    eventually(lambda: "cannot be a path" in replay.status.text)
    assert replay.record is replay.inside.source is before
    with pytest.raises(InputError, match="not a workbench run file"):
        open_run(foreign)


def test_a_damaged_head_is_told_and_the_run_before_stays(tmp_path, eventually, monkeypatch):
    replay = open_run(made(tmp_path))
    record = replay.record
    damaged = save(dataclasses.replace(record, summary={}), tmp_path / "damaged.run.npz")
    replay.path.value = str(damaged)
    eventually(lambda: replay.status.text.startswith(f"{damaged} is damaged: in its summary, problem, N"))
    # One that nobody foresaw.
    monkeypatch.setattr("workbench.live.inspect.replay.load", lambda _path: dataclasses.replace(record, history=None))
    replay.path.value = str(tmp_path / "a.run.npz")
    eventually(lambda: replay.status.text.startswith("opening the run failed by a"))
    assert replay.record is replay.inside.source is record
    assert len(replay.inside.convergence.curves) == 1


def test_a_file_can_be_uploaded(tmp_path, eventually):
    replay = Replay()
    content = made(tmp_path).read_bytes()

    def drop(name, content, size=0):
        value = {"name": name, "size": size or len(content)}
        replay.form.receive({"kind": "set", "field": "upload", "value": value, "content": content})

    drop("mine.run.npz", content)
    eventually(lambda: replay.record is not None and replay.status.tone == "good")
    drop("other.npz", content[:99])
    eventually(lambda: replay.status.text.startswith("other.npz is not a workbench run file"))
    # What is too large does not come along.
    drop("large.npz", None, size=20 << 20)
    eventually(lambda: replay.status.text.startswith("'large.npz' has 20.0 MiB, uploads may have 10 MiB"))


def test_a_run_without_a_trace_or_ritz_values_says_so(eventually):
    replay = Replay(ended(n=8, solver="sd").result.record())
    inside = replay.inside
    eventually(lambda: "no β" in inside.parts["Spectrum"].children[1].children[0].value)
    assert inside.parts["Roofline"].layout.display == "none"
    assert "saved without a trace" in inside.timeline.hint
