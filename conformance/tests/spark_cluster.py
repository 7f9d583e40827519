"""A standalone Spark cluster on loopback, out of the Spark that pip installed: one master and some workers."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from sds_harness.corpus.java import find_java

HOST = "127.0.0.1"
PATIENCE_S = 120.0


@dataclass
class Cluster:
    """A cluster that runs."""

    url: str
    workers: list[subprocess.Popen[bytes]]
    environment: dict[str, str]
    """Variables with which a driver finds it, and its own way."""

    def kill_worker(self) -> None:
        """The first worker, with its executors, as if its machine had lost power."""
        os.killpg(self.workers[0].pid, signal.SIGKILL)


@contextmanager
def cluster(workers: int = 2) -> Iterator[Cluster]:
    """A cluster of workers with a core each, gone at the end."""
    with tempfile.TemporaryDirectory(prefix="sds-cluster-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        environment = {
            **os.environ,
            "JAVA_HOME": str(find_java().home_for_spark(scratch)),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_WORKER_DIR": str(scratch),
            "PYSPARK_PYTHON": sys.executable,
        }
        port = _free_port()
        url = f"spark://{HOST}:{port}"
        started: list[subprocess.Popen[bytes]] = []
        try:
            master = ["org.apache.spark.deploy.master.Master", "--host", HOST, "--port", str(port), "--webui-port", "0"]
            started.append(_start(master, environment, scratch / "master.log"))
            _wait_for(scratch / "master.log", 1, "I have been elected leader|Starting Spark master")
            for number in range(workers):
                worker = ["org.apache.spark.deploy.worker.Worker", "--host", HOST, "--cores", "1", "--memory", "1g"]
                log = scratch / f"worker-{number}.log"
                started.append(_start([*worker, "--webui-port", "0", url], environment, log))
            for number in range(workers):
                _wait_for(scratch / f"worker-{number}.log", 1, "Successfully registered with master")
            yield Cluster(url, started[1:], environment)
        finally:
            for process in started:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _start(words: list[str], environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    with log.open("wb") as file:
        return subprocess.Popen(
            [str(program), *words], env=environment, stdout=file, stderr=file, start_new_session=True
        )


def _wait_for(log: Path, times: int, pattern: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while len(re.findall(pattern, log.read_text("utf-8", "replace"))) < times:
        assert time.monotonic() < end, log.read_text("utf-8", "replace")
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
        return port
