"""The suite as a program of its own, in which a read from the implementation blocks past every deadline.

    python stuck_suite.py WAY READS ARGUMENTS...

The READS-th read of each process of ours blocks. By the WAY ``asleep`` a signal wakes it, by ``deaf`` nothing does.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from itertools import count

from sds_conformance.cli import main
from sds_harness import watchdog
from sds_harness.process import TesteeProcess

GRACE_S = 1.0
_reads = count(1)
_read = TesteeProcess.read


def stuck(self: TesteeProcess) -> bytes:
    if next(_reads) == int(sys.argv[2]):
        if sys.argv[1] == "asleep":
            threading.Event().wait()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        time.sleep(600)
    return _read(self)


# Worker processes import this file, too.
TesteeProcess.read = stuck  # type: ignore[method-assign]
watchdog.GRACE_S = watchdog.LAST_S = GRACE_S

if __name__ == "__main__":
    main(sys.argv[3:], "sds-conformance")
