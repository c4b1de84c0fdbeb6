"""Which accelerator is here, in a name and a sentence."""

from workbench import devices
from workbench.devices.default_accelerator import default_accelerator
from workbench.errors import InputError


def test_the_accelerator_found_is_one_that_can_be_made():
    name, sentence = default_accelerator()
    assert sentence
    if name:
        assert devices.device(name).note in sentence


def test_without_any_a_sentence_says_what_is_missing(monkeypatch):
    def refuse(name):
        raise InputError(f"no {name}; install it")

    monkeypatch.setattr(devices, "device", refuse)
    name, sentence = default_accelerator()
    assert name == ""
    assert sentence == "There is no accelerator here: no cuda; install it; no opencl; install it"
