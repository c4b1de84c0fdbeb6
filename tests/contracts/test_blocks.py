"""What every registered block promises, whatever its kind."""

import inspect
import json

import pytest

import workbench.run  # noqa: F401  declares the packages of blocks
from workbench.errors import InputError
from workbench.registry import blocks as registry

EVERY = [cls for kind in registry.kinds() for cls in registry.registered(kind).values()]


@pytest.mark.parametrize("cls", EVERY, ids=lambda cls: f"{cls.kind}-{cls.name}")
def test_a_block_is_described_and_made_from_what_it_declares(cls):
    block = cls()
    assert registry.from_dict(json.loads(json.dumps(block.to_dict()))) == block
    assert registry.find(cls.kind, block.spec) == registry.find(cls.kind, block.text) == block
    assert cls.title
    assert cls.__doc__
    assert cls.__doc__ != cls.__mro__[1].__doc__
    line = f'name: ClassVar[str] = "{cls.name}"'
    assert line in inspect.getsource(inspect.getmodule(cls)), f"all files are imported for {cls.name}; write {line}"
    with pytest.raises(InputError, match="unknown parameter 'nosuch'"):
        cls.create({"nosuch": 1})
    for declared in cls.parameters():
        assert declared.help, declared.name
        if declared.kind in (int, float):
            assert declared.low is not None, declared.name
            assert declared.high is not None, declared.name
            assert declared.low <= declared.default <= declared.high, declared.name
            for outside in (declared.low - 1, declared.high + 1):
                with pytest.raises(InputError, match=f"{declared.name} must be between"):
                    cls(**{declared.name: outside})
            with pytest.raises(InputError, match="number"):
                cls(**{declared.name: "many"})
