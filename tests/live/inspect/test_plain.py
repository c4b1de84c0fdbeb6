"""Plots without a kernel: what is written onto a page is what views would send."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.live import html_of, page_of
from workbench.plots.scenes.convergence import convergence_scene
from workbench.plots.scenes.scene import Axis, Scene
from workbench.records import Record
from workbench.run import Session, configure

PLOT = re.compile(r'<script type="application/json" class="wb-offline-plot">(.*?)</script>')


def plots(text: str) -> list[dict]:
    return [json.loads(found) for found in PLOT.findall(text)]


@pytest.fixture(scope="module")
def record() -> Record:
    session = Session(configure("two-layer", n=9), trace=True)
    session.start()
    return session.wait(LIMIT).record()


def test_a_record_is_its_convergence_and_its_timeline(record):
    chart, timeline = plots(page_of(record))
    assert chart["traits"]["group"] == timeline["traits"]["group"]
    content, data = chart["messages"][0]
    numbers = np.frombuffer(base64.b64decode(data), np.float32)
    residual = record.relative_residual
    assert content["layers"][0]["count"] == residual.size
    assert numbers[residual.size : 2 * residual.size] == pytest.approx(residual, rel=1e-6)
    assert content["layers"][-1]["value"] == 1e-6, "the tolerance of the run"
    news = [content for content, _ in timeline["messages"]]
    assert sum(each["count"] for each in news) == record.trace.count
    assert [each["seq"] for each in news] == list(range(1, len(news) + 1))
    starts = np.frombuffer(base64.b64decode(timeline["messages"][0][1]), np.float64, news[0]["count"])
    assert np.array_equal(starts, record.trace.rows["start"][: starts.size])


def test_texts_end_no_script_and_are_escaped():
    text = html_of(Scene("a </script><b>", Axis("<i>"), Axis("y"), note="</script>"))
    assert plots(text)[0]["messages"][0][0]["note"] == "</script>"
    assert text.count("<script") == text.count("</script>") == 3


def test_a_page_holds_scripts_and_style_once(record):
    scene = convergence_scene([record])
    whole, bare = html_of(scene), html_of(scene, scene, assets=False)
    assert len(plots(bare)) == 2
    assert "<style>" not in bare
    assert len(bare) < 20_000 < len(whole) < 300_000
    assert not re.search(r"https?://(?!www\.w3\.org)", whole), "nothing is fetched"


def test_what_cannot_be_drawn_is_refused_in_a_sentence():
    with pytest.raises(InputError, match="draws records, traces and scenes, and not a str"):
        html_of("run.npz")  # pyright: ignore[reportArgumentType]
