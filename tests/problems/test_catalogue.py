"""The registry of downloadable matrices."""

import pytest

from tests.conftest import refusal
from workbench.errors import InputError
from workbench.problems import catalogue
from workbench.problems.catalogue import data_folder, group_and_name, known_entry


def test_entries_are_complete_and_unique():
    entries = catalogue.catalogue()
    text = (data_folder() / "matrices.toml").read_text()
    assert len(entries) == text.count("[[matrix]]") >= 40
    for entry in entries.values():
        assert entry.N <= entry.nnz <= entry.N**2
        assert (entry.nnz - entry.N) % 2 == 0, "a symmetric matrix with a full diagonal"
        assert entry.sha256 == "" or len(bytes.fromhex(entry.sha256)) == 32


@pytest.mark.parametrize(
    ("name", "rows", "printed"),
    [
        ("bcsstk15", 3948, 117816),
        ("gyro", 17361, 1021159),
        ("boneS01", 127224, 6715152),
        ("hood", 220542, 10768436),
        ("offshore", 259789, 4242673),
        ("Serena", 1391349, 64531701),
        ("Queen_4147", 4147110, 329499284),
        ("m_t1", 97578, 9753570),
        ("parabolic_fem", 525825, 3674625),
        ("mhd1280b", 1280, 22778),
        ("1138_bus", 1138, 4054),
        ("494_bus", 494, 1666),
        ("bcsstk14", 1806, 63454),
        ("bcsstk16", 4884, 290378),
        ("nos3", 960, 15844),
    ],
)
def test_sizes_are_those_the_papers_print(name, rows, printed):
    entry = catalogue.catalogue()[name]
    assert (entry.N, entry.nnz + entry.zeros) == (rows, printed)


def test_names_with_and_without_group():
    assert group_and_name("bcsstk15") == group_and_name("HB/bcsstk15") == ("HB", "bcsstk15")
    assert known_entry("Janna/bcsstk15") is None
    assert group_and_name("Boeing/msc01050") == ("Boeing", "msc01050"), "not in the registry, but in the collection"
    assert group_and_name("Janna/StocF-1465") == ("Janna", "StocF-1465")


@pytest.mark.parametrize(
    "text",
    [
        "../passwd",
        "HB/..",
        "HB/a/b",
        "HB/",
        "/etc",
        "a b/c",
        "HB/é",
        "HB/²",
        "HB/a\n",
        "HB/" + 101 * "a",
        300 * "a" + "/b",
    ],
)
def test_names_cannot_escape_the_cache_and_are_files_and_addresses(text):
    with pytest.raises(InputError, match=r"a matrix of the collection is written group/name, such as HB/bcsstk15, got"):
        group_and_name(text)


def test_an_unknown_name_suggests_the_nearest():
    assert refusal(group_and_name, "bcstk15") == (
        "unknown matrix 'bcstk15'; did you mean bcsstk15?; or write group/name as on sparse.tamu.edu"
    )


def test_a_missing_catalogue_suggests_how_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "data_folder", lambda: tmp_path)
    with pytest.raises(InputError, match=r"install the workbench from its checkout with pip install -e \."):
        catalogue.catalogue.__wrapped__()
