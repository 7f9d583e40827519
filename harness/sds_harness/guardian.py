"""A separate program that kills the remaining processes when a program that starts implementations dies.

The guardian reads lines from a pipe: `+PID` for each process that leads a group, `-PID` when that process has
ended, and `.` when nothing is left. If the pipe ends without `.`, the program was killed. Then the guardian kills
the groups and all processes that have the mark of the program in their environment. The mark finds children that
have left their group, their session and their parent. psutil is imported only then, so that the guardian starts
fast.
"""

from __future__ import annotations

import os
import signal
import sys
import time

ROUNDS = 100
PAUSE_S = 0.02


def main() -> None:
    """Arguments: the name of the environment variable for marks, the prefix of all marks of the program, and the folder
    that contains psutil."""
    variable, beginning, packages = sys.argv[1:]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    leaders: set[int] = set()
    buffer = b""
    while data := os.read(0, 4096):
        *records, buffer = (buffer + data).split(b"\n")
        for record in records:
            if record == b".":
                return
            change = leaders.add if record.startswith(b"+") else leaders.discard
            change(int(record[1:]))
    for leader in leaders:  # the group remains if only its leader was killed
        try:
            os.killpg(leader, signal.SIGKILL)
        except OSError:
            continue
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
