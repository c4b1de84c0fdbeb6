"""Work stealing: a thread takes the chunks of its own share first, then chunks that other threads have not begun.

With fixed shares a core that is busy with another program, a browser for example, would delay all others. A chunk gives
the same numbers on every thread and has a separate place for its sums, so results do not depend on the thread. A kernel
has the form

    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):

with `taken` from `launch`, and may use `thread` as the index of work space that no other thread uses.

Work whose chunks depend on one another is shared by counters that threads publish, and by locks (`publish`,
`published`, `acquired`). A thread must not wait for another for long, since that one may have lost its core: it
returns, and the others do the rest.
"""

from __future__ import annotations

import numpy as np

APART = 16
"""Words between the counters of two threads: two cache lines, which processors fetch in pairs."""


def counters(threads: int) -> np.ndarray:
    """Numbers of chunks taken from each thread's share, zero at the start. Shape (threads, 16); column 0 counts."""
    return np.zeros((threads, APART), np.int64)
