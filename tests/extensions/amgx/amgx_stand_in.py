"""A mock of pyamgx: a symmetric Gauss-Seidel sweep in place of a cycle, an exception where AmgX aborts the process."""

from __future__ import annotations

import types

import numpy as np
from scipy import sparse


class Aborted(BaseException):
    """The real library would end the process here; no `except Exception` may hide it."""


class StandIn(types.ModuleType):
    """The mock of the module pyamgx. It records calls, configurations, objects that are not destroyed yet (`living`),
    and the reasons why AmgX would have aborted the process (`aborts`).

    memory: by address, what `upload_raw` reads and `download_raw` writes.
    """

    def __init__(self):
        super().__init__("pyamgx")
        self.calls, self.living, self.configurations, self.aborts = [], [], [], []
        self.on = self.was_on = False
        self.say = None
        self.memory = {}
        for name in ("Config", "Resources", "Matrix", "Vector", "Solver"):
            setattr(self, name, lambda name=name: Thing(self, name))

    def abort(self, why):
        self.aborts.append(why)
        raise Aborted(why)

    def register_print_callback(self, callback):
        self.say = callback

    def prints(self, text):
        if self.say is None:
            self.abort("printed to standard output")
        self.say(text)

    def initialize(self):
        if self.was_on:
            self.abort("initialized twice")
        self.on = self.was_on = True
        self.prints("AMGX version 2.5.0\n")
        self.calls.append("initialize")

    def finalize(self):
        if not self.on:
            self.abort("finalized when it was not on")
        if self.living:
            self.abort(f"finalized while {[thing.name for thing in self.living]} live")
        self.on = False
        self.prints("AMGX finished\n")
        self.calls.append("finalize")


class Thing:
    """Any object of pyamgx: a Config, Resources, Matrix, Vector or Solver, by its name."""

    def __init__(self, library, name):
        self.module, self.name = library, name

    def made(self, how):
        """Record that this object was created by the method `how`."""
        if not self.module.on:
            self.module.abort(f"{self.name}.{how} before initialize or after finalize")
        if self.name == "Resources" and any(thing.name == "Resources" for thing in self.module.living):
            self.module.abort("a second Resources: destroying one of them frees the pools of both")
        self.module.calls.append(f"{self.name}.{how}")
        self.module.living.append(self)
        return self

    def need(self, *things):
        """Abort unless this object and these others exist."""
        for thing in (self, *things):
            if thing not in self.module.living:
                self.module.abort(f"{thing.name} is used after it was destroyed")

    def create_from_dict(self, plain):
        if plain.get("config_version") != 2:
            raise RuntimeError("Incorrect parameters for amgx call.")
        self.module.configurations.append(plain)
        return self.made("create_from_dict")

    def create_simple(self, config):
        config.need()
        return self.made("create_simple")

    def create(self, resources, config=None, mode=None):
        resources.need(*([config] if config else []))
        # pyamgx copies doubles whatever the mode says, so another one reads past the ends of arrays.
        if mode != "dDDI":
            self.module.abort(f"{self.name} in mode {mode}")
        return self.made("create")

    def upload_CSR(self, matrix):
        self.need()
        if (matrix.dtype, matrix.indices.dtype, matrix.indptr.dtype) != (np.float64, np.int32, np.int32):
            raise ValueError("Buffer dtype mismatch")
        self.matrix = sparse.csr_array(matrix)

    def upload(self, array):
        self.need()
        if array.dtype != np.float64:
            raise ValueError(f"Buffer dtype mismatch, expected 'double' but got {array.dtype}")
        self.values = np.array(array)

    def download(self, array):
        self.need()
        array[:] = self.values

    def upload_raw(self, address, size):
        self.need()
        self.values = np.array(self.module.memory[address].read(size))

    def download_raw(self, address):
        self.need()
        self.module.memory[address].write(self.values)

    def setup(self, matrix):
        self.need(matrix)
        self.lower = sparse.csr_array(sparse.tril(matrix.matrix))
        self.diagonal = matrix.matrix.diagonal()

    def solve(self, b, x, zero_initial_guess=False):
        self.need(b, x)
        assert zero_initial_guess
        # x = (D + U)^-1 D (D + L)^-1 b.
        half = sparse.linalg.spsolve_triangular(self.lower, b.values, lower=True)
        x.values = sparse.linalg.spsolve_triangular(self.lower.T.tocsr(), self.diagonal * half, lower=False)
        self.iterations_number = 1

    def destroy(self):
        self.need()
        if self.name == "Resources" and any(thing.name != "Config" for thing in self.module.living if thing != self):
            self.module.abort("trying to free non-empty temporary device pool")
        self.module.living.remove(self)
        self.module.calls.append(f"{self.name}.destroy")
