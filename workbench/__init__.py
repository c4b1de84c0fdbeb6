"""An interactive workbench for conjugate gradient methods.

The library reads from the bottom up: `registry`, `settings`, `devices` (where arithmetic runs), `operators` (A), then
`problems`, `preconditioners`, `deflation` and `solvers`, which are blind to one another, then `run`, which puts them
together, and last `plots`, `live` and `cli`. A capability beyond this is one folder of `extensions`.
"""

from workbench import moved

__version__ = "0.1.0"

moved.install()
