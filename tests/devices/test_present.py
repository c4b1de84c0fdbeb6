"""Which accelerator is here, in a name and a sentence."""

from workbench import devices
from workbench.devices.present import accelerator_here
from workbench.errors import InputError


def test_the_accelerator_found_is_one_that_can_be_made():
    name, sentence = accelerator_here()
    assert sentence
    if name:
        assert devices.device(name).note in sentence


def test_without_any_a_sentence_says_what_is_missing(monkeypatch):
    def refuse(name):
        raise InputError(f"no {name}; install it")

    monkeypatch.setattr(devices, "device", refuse)
    name, sentence = accelerator_here()
    assert name == ""
    assert sentence == "There is no accelerator here: no cuda; install it; no opencl; install it"
