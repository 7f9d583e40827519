"""A program of its own, beside one that starts implementations: what that leaves behind when it dies is killed.

Not even SIGKILL comes past it. It waits at the end of a pipe; a byte there says that nothing is left, its end without
one that somebody has to look. Whose processes they are stands in their environment, so that children are found that
have left their group, their session and their parent. Until then nothing is imported, so that it starts in no time.
"""

from __future__ import annotations

import os
import signal
import sys
import time

ROUNDS = 100
PAUSE_S = 0.02


def main() -> None:
    """The arguments: the variable, how its values begin, and the folder that has psutil."""
    variable, beginning, packages = sys.argv[1:]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if os.read(0, 1):
        return
    sys.path.append(packages)
    import psutil

    for _ in range(ROUNDS):
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(variable, "").startswith(beginning):
                    found += [process, *process.children(recursive=True)]
            except (psutil.Error, OSError):
                continue
        for process in found:
            try:
                process.kill()
            except (psutil.Error, OSError):
                continue
        if not found:
            return
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
