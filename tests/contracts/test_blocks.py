"""What every registered block promises, whatever its kind."""

import inspect
import json

import pytest

import workbench.run  # noqa: F401  declares the packages of blocks
from workbench import registry
from workbench.errors import InputError

EVERY = [cls for kind in registry.kinds() for cls in registry.registered(kind).values()]
EVERY_PARAMETER = [(cls, declared) for cls in EVERY for declared in cls.parameters()]


def name_of(cls):
    return f"{cls.kind}-{cls.name}"


@pytest.mark.parametrize("cls", EVERY, ids=name_of)
def test_defaults_are_valid_and_survive_json(cls):
    block = cls()
    assert registry.from_dict(json.loads(json.dumps(block.to_dict()))) == block
    assert registry.find(cls.kind, block.spec) == registry.find(cls.kind, block.text) == block


@pytest.mark.parametrize("cls", EVERY, ids=name_of)
def test_it_has_a_title_and_a_docstring_of_its_own(cls):
    assert cls.title
    assert cls.__doc__
    assert cls.__doc__ != cls.__mro__[1].__doc__


@pytest.mark.parametrize("cls", EVERY, ids=name_of)
def test_its_file_is_found_by_its_name(cls):
    line = f'name: ClassVar[str] = "{cls.name}"'
    assert line in inspect.getsource(inspect.getmodule(cls)), f"all files are imported for {cls.name}; write {line}"


@pytest.mark.parametrize(("cls", "declared"), EVERY_PARAMETER, ids=lambda part: getattr(part, "name", part))
def test_every_parameter_is_described_and_bounded(cls, declared):
    assert declared.help
    if declared.kind in (int, float):
        assert declared.low is not None
        assert declared.high is not None
        assert declared.low <= declared.default <= declared.high
        for outside in (declared.low - 1, declared.high + 1):
            with pytest.raises(InputError, match=f"{declared.name} must be between"):
                cls(**{declared.name: outside})
        with pytest.raises(InputError, match="number"):
            cls(**{declared.name: "many"})


@pytest.mark.parametrize("cls", EVERY, ids=name_of)
def test_unknown_parameters_are_refused(cls):
    with pytest.raises(InputError, match="unknown parameter 'nosuch'"):
        cls.create({"nosuch": 1})
