"""The threads of kernels: they sleep until a launch, which they share with the thread that launches.

A launch is some numbers of threads, 0 to n - 1, each of which is one call of machine code. The launching thread and
those of the pool take numbers until none is left, each its own first, whose rows its core may still have in its cache,
and the launching one waits for those that others took. So a thread that is slow to wake up, as its core is busy, is not
waited for, and nothing depends on how many there are.

The threads are Python's, which end with the process; they never return from C, where they do not hold the GIL. They are
started below `threading`, whose list is of those that a user may wait for. None of them spins: next to a browser, or
any other busy process, a waiting thread would spin on the core that a working one needs.
"""

from __future__ import annotations

import _thread
import ctypes
import functools
import re
import string
import sys
from typing import TYPE_CHECKING

from workbench.jit.environment import MOST
from workbench.jit.fixed_text import link_text

if TYPE_CHECKING:
    import llvmlite.binding as llvm

RUN, SERVE = "run", "serve"
entry = ctypes.c_void_p()
"""The address of `run(kernel, words, count)`, which shares a launch; only one at a time may be shared. Empty until
`start`."""
threads = 1
"""Threads that share a launch, with the one that launches."""

# Names, types and arguments in the C library or in kernel32. Structs are zeroed; 128 bytes are enough for each.
_POSIX = {
    "lock": "i32 @pthread_mutex_lock(ptr @mutex)",
    "unlock": "i32 @pthread_mutex_unlock(ptr @mutex)",
    "wait_for_work": "i32 @pthread_cond_wait(ptr @work, ptr @mutex)",
    "tell_work": "i32 @pthread_cond_broadcast(ptr @work)",
    "wait_for_end": "i32 @pthread_cond_wait(ptr @end, ptr @mutex)",
    "tell_end": "i32 @pthread_cond_signal(ptr @end)",
}
_WINDOWS = {
    "lock": "void @AcquireSRWLockExclusive(ptr @mutex)",
    "unlock": "void @ReleaseSRWLockExclusive(ptr @mutex)",
    "wait_for_work": "i32 @SleepConditionVariableSRW(ptr @work, ptr @mutex, i32 -1, i32 0)",
    "tell_work": "void @WakeAllConditionVariable(ptr @work)",
    "wait_for_end": "i32 @SleepConditionVariableSRW(ptr @end, ptr @mutex, i32 -1, i32 0)",
    "tell_end": "void @WakeConditionVariable(ptr @end)",
}
_INITIALIZED = {"mutex": "pthread_mutex_init", "work": "pthread_cond_init", "end": "pthread_cond_init"}
"""Functions of the C library of macOS that make these structs, which are not zeros there."""

# The lock is held where these globals are read or written: the kernel, its words, the number of the launch, that of the
# launch in which each number was taken last, how many numbers there are, how many are free, how many have not ended.
_TEXT = string.Template("""
@mutex = global [128 x i8] zeroinitializer, align 64
@work = global [128 x i8] zeroinitializer, align 64
@end = global [128 x i8] zeroinitializer, align 64
@kernel = internal global ptr null
@words = internal global ptr null
@launch = internal global i64 0
@taken = internal global [$most x i64] zeroinitializer
@count = internal global i64 0
@free = internal global i64 0
@left = internal global i64 0

define internal i64 @take(i64 %own) {
begin:
  %free = load i64, ptr @free
  %none = icmp eq i64 %free, 0
  br i1 %none, label %nothing, label %find
find:
  %count = load i64, ptr @count
  %launch = load i64, ptr @launch
  %fits = icmp slt i64 %own, %count
  %first = select i1 %fits, i64 %own, i64 0
  br label %look
look:
  %number = phi i64 [ %first, %find ], [ %following, %next ]
  %place = getelementptr i64, ptr @taken, i64 %number
  %last = load i64, ptr %place
  %gone = icmp eq i64 %last, %launch
  br i1 %gone, label %next, label %found
next:
  %after = add i64 %number, 1
  %more = icmp slt i64 %after, %count
  %following = select i1 %more, i64 %after, i64 0
  br label %look
found:
  store i64 %launch, ptr %place
  %rest = sub i64 %free, 1
  store i64 %rest, ptr @free
  ret i64 %number
nothing:
  ret i64 -1
}

define void @run(ptr %kernel, ptr %words, i64 %count) {
begin:
  call $lock
  store ptr %kernel, ptr @kernel
  store ptr %words, ptr @words
  %last = load i64, ptr @launch
  %launch = add i64 %last, 1
  store i64 %launch, ptr @launch
  store i64 %count, ptr @count
  store i64 %count, ptr @free
  store i64 %count, ptr @left
  %first = call i64 @take(i64 0)
  call $unlock
  call $tell_work
  br label %run
run:
  %number = phi i64 [ %first, %begin ], [ %taken, %another ]
  call void %kernel(i64 %number, ptr %words)
  call $lock
  %before = load i64, ptr @left
  %left = sub i64 %before, 1
  store i64 %left, ptr @left
  %taken = call i64 @take(i64 0)
  %more = icmp sge i64 %taken, 0
  br i1 %more, label %another, label %wait
another:
  call $unlock
  br label %run
wait:
  %running = load i64, ptr @left
  %ended = icmp eq i64 %running, 0
  br i1 %ended, label %done, label %sleep
sleep:
  call $wait_for_end
  br label %wait
done:
  call $unlock
  ret void
}

define void @serve(i64 %own) {
  call $lock
  br label %look
look:
  %number = call i64 @take(i64 %own)
  %more = icmp sge i64 %number, 0
  br i1 %more, label %run, label %sleep
sleep:
  call $wait_for_work
  br label %look
run:
  %kernel = load ptr, ptr @kernel
  %words = load ptr, ptr @words
  call $unlock
  call void %kernel(i64 %number, ptr %words)
  call $lock
  %before = load i64, ptr @left
  %left = sub i64 %before, 1
  store i64 %left, ptr @left
  %last = icmp eq i64 %left, 0
  br i1 %last, label %tell, label %look
tell:
  call $tell_end
  br label %look
}
""")


@functools.cache
def linked(compiler: llvm.LLJIT) -> llvm.ResourceTracker:
    """The machine code of the pool by symbols, for LLVM's linker."""
    if sys.platform == "win32":
        calls, system = _WINDOWS, ctypes.WinDLL("kernel32")
    else:
        calls, system = _POSIX, ctypes.CDLL(None)
    declared, imported = {}, {}
    for call in calls.values():
        name = call.partition("@")[2].partition("(")[0]
        declared[name] = "declare " + re.sub(r" [^ ]+(?=[,)])", "", call)
        address = ctypes.cast(getattr(system, name), ctypes.c_void_p).value
        assert address
        imported[name] = address
    text = "\n".join(declared.values()) + _TEXT.substitute(calls, most=MOST)
    library = link_text(compiler, text, imported, (RUN, SERVE, *_INITIALIZED))
    if sys.platform != "win32":
        for name, initialize in _INITIALIZED.items():
            getattr(system, initialize)(ctypes.c_void_p(library[name]), None)
    return library


def start(compiler: llvm.LLJIT, count: int) -> None:
    """Let `count` threads share a launch, or fewer where the system has no more."""
    global threads
    library = linked(compiler)
    entry.value = library[RUN]
    # Last, since an interrupt may come before: the next launch then starts again.
    before, threads = threads, count
    for number in range(before, count):
        try:
            _thread.start_new_thread(_serve, (number, library, compiler))
        except RuntimeError:
            return


def _serve(number: int, library: llvm.ResourceTracker, _: object) -> None:
    # The arguments stay with the sleeping thread, so that its code remains loaded while the interpreter ends.
    ctypes.CFUNCTYPE(None, ctypes.c_int64)(library[SERVE])(number)
