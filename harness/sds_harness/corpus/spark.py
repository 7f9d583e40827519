"""Starts a Spark session: embedded in this process by default, quiet, with bounded memory; or on a cluster.

PySpark is imported only when a session is started: the rest of the suite does not need it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import socketserver
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from sds_testee.installation import install_extra, install_package

from .. import safe_path, signals
from ..declaration import printable
from .errors import CorpusError, SparkMissingError
from .java import Java, find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
RETRIES = 4
"""How often a task is tried before the job fails."""
MEMORY = "1g"
INSTALL = install_extra("spark")
_CONNECT = install_package("'pyspark[connect]'")
_LOG4J = """
rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{{HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""
SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""The variable by which spark-submit passes the port of its Java process."""
_LAST_LINES = 12
_END_S, _KILL_S, _KILL_ROUNDS = 3.0, 0.5, 5


@dataclass(frozen=True)
class SparkOptions:
    """Where Spark runs, and with how much memory."""

    master: str = LOCAL
    """``local[N]``, the address of a cluster, or ``sc://HOST`` for a Spark Connect server."""
    memory: str = MEMORY
    """Heap size of the embedded Java process, or of each executor on a cluster, such as "1g"."""

    @property
    def printable_master(self) -> str:
        """The master, safe to print: the part after ";" may contain a token."""
        return printable(self.master.partition(";")[0], 80)

    @property
    def local(self) -> bool:
        return self.master.startswith("local")

    @property
    def connect(self) -> bool:
        return self.master.startswith("sc://")

    @property
    def master_with_retries(self) -> str:
        """The master with the number of retries. Embedded Spark does not retry a failed task unless the name of its
        master says so."""
        return re.sub(
            r"^local\[(\*|\d+)\]$", rf"local[\1,{RETRIES}]", "local[1]" if self.master == "local" else self.master
        )


@contextlib.contextmanager
def spark_session(options: SparkOptions = SparkOptions(), title: str = "sds-conformance") -> Iterator[SparkSession]:
    """A session that ends with the block. An existing session (spark-submit, a notebook) is used and left running.

    The output of Spark and Java goes to a log. Its last lines are shown if the session does not start. Raises
    SparkMissingError.
    """
    for name in ("pyspark", "pyarrow", "pandas"):  # PySpark passes Arrow batches only if pandas is installed
        if find_spec(name) is None:
            raise SparkMissingError(f"Corpora need PySpark, and there is no {name}: type `{INSTALL}`.")
    from pyspark.sql import SparkSession

    _quiet_counters()

    active = SparkSession.getActiveSession()
    if active is None and SUBMITTED in os.environ:
        # spark-submit has set the master and the memory, and its Java process is running.
        with _own_interrupts():
            active = SparkSession.Builder().appName(title).getOrCreate()
    if active is not None:
        with signals.call_on_signal(partial(_cancel, active)):
            yield active
        return
    with (
        tempfile.TemporaryDirectory(prefix="sds-spark-", ignore_cleanup_errors=True) as folder,
        _quiet_logs(),
        contextlib.ExitStack() as stack,
    ):
        log, scratch = Path(folder) / "spark.log", Path(folder)
        java = None if options.connect else find_java()
        stack.enter_context(_environment(options, java, scratch))
        # PySpark imports pandas, which takes half a second. Import it while Java starts.
        threading.Thread(target=import_module, args=("pandas",), daemon=True).start()
        try:
            with _stderr_to(log), _own_interrupts():
                session = _build(options, title, scratch)
        except Exception as error:
            raise SparkMissingError(_explain_error(error, log)) from None
        try:
            with signals.call_on_signal(partial(_cancel, session)):
                yield session
        except Exception:
            # A failed job may have broken the connection to Java.
            _stop(session, options)
            raise
        except BaseException:
            # After a signal, do not wait for the tasks of a job: they would play to the end of their shards.
            _kill_java()
            raise
        _stop(session, options)


def _stop(session: SparkSession, options: SparkOptions) -> None:
    with contextlib.suppress(Exception):
        session.stop()
    if not options.connect:
        _end_java()


def _end_java() -> None:
    """End the Java process. PySpark would reuse it, with its settings, for the next session."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    with contextlib.suppress(Exception):
        gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        with contextlib.suppress(Exception):
            process.stdin.close()
            process.wait(_END_S)
        process.kill()


def _kill_java() -> None:
    """Kill the Java process, Spark's workers and the implementations that the workers started.

    Suspend Java first: it starts new workers in place of those that end.
    """
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    if process is None:
        return
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    with contextlib.suppress(psutil.Error):
        java = psutil.Process(process.pid)
        java.suspend()
        for _ in range(_KILL_ROUNDS):  # A process may have started a child just before it was killed.
            family = java.children(recursive=True)
            for one in family:
                with contextlib.suppress(psutil.Error):
                    one.kill()
            if not psutil.wait_procs(family, _KILL_S / _KILL_ROUNDS)[1] and not java.children():
                break
    process.kill()
    with contextlib.suppress(Exception):
        process.wait(_KILL_S)


def _cancel(session: Any) -> None:
    """Cancel all jobs, from another thread than the one that waits for them."""
    context = getattr(session, "_sc", None)
    if context is None:
        session.interruptAll()
    else:
        context.cancelAllJobs()


def _build(options: SparkOptions, title: str, scratch: Path) -> SparkSession:
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.Builder().appName(title)
    if options.connect:
        return builder.remote(options.master).getOrCreate()  # type: ignore[no-any-return]
    for key, value in _settings(options, scratch).items():
        builder = builder.config(key, value)
    session: SparkSession = builder.master(options.master_with_retries).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _settings(options: SparkOptions, scratch: Path) -> dict[str, str]:
    log4j = scratch / "log4j2.properties"
    # The folder is private and temporary, so it cannot contain a foreign link.
    log4j.write_text(_LOG4J.format(level="error"), "utf-8")
    # Python and Arrow do the work. Java only passes data on, so the fast compiler (C1) is sufficient. Spark splits
    # these options at blanks, and paths may contain some.
    settings = {
        "spark.driver.extraJavaOptions": (
            f'"-Dlog4j2.configurationFile={log4j}" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC'
        ),
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
        "spark.task.maxFailures": str(RETRIES),
        "spark.python.worker.faulthandler.enabled": "true",
        # The output of one task is a few rows; a hundred partitions of a shuffle would be a hundred empty tasks.
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.adaptive.enabled": "true",
    }
    if options.local:
        settings |= {
            "spark.driver.memory": options.memory,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(scratch),
            "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        }
    else:
        settings["spark.executor.memory"] = options.memory
    return settings


@contextlib.contextmanager
def _environment(options: SparkOptions, java: Java | None, scratch: Path) -> Iterator[None]:
    """Until the block ends, set the environment variables that PySpark reads. Variables that the user has set stay
    unchanged.
    """
    wanted: dict[str, str] = {}
    if java is not None:
        wanted["JAVA_HOME"] = str(java.home_for_spark(scratch))
        wanted["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON", sys.executable)
        wanted["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if options.local:
        wanted["SPARK_LOCAL_IP"] = "127.0.0.1"
        wanted[safe_path.VARIABLE] = os.environ.get(safe_path.VARIABLE) or safe_path.OURS
    before = {key: os.environ.get(key) for key in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


@contextlib.contextmanager
def _quiet_logs() -> Iterator[None]:
    """Suppress the tracebacks that py4j logs to stderr when the connection to Java breaks. Other handlers still get
    them.

    After a failure or a signal, the handler stays: the threads that cancel and watch jobs may log later.
    """
    nowhere = logging.NullHandler()
    logging.getLogger().addHandler(nowhere)
    yield
    logging.getLogger().removeHandler(nowhere)


def _quiet_counters() -> None:
    """Suppress the tracebacks that PySpark's accumulator servers print when a signal ends Java before they end."""
    from pyspark import accumulators

    def handle_error(server: socketserver.BaseServer, request: Any, address: Any) -> None:
        if not signals.end_was_requested():
            socketserver.BaseServer.handle_error(server, request, address)

    for name in ("AccumulatorTCPServer", "AccumulatorUnixServer"):
        if server := getattr(accumulators, name, None):
            server.handle_error = handle_error


@contextlib.contextmanager
def _own_interrupts() -> Iterator[None]:
    """Restore our handler of SIGINT after the block. PySpark installs one that cancels its jobs over a connection that
    the interrupt may have broken."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)


@contextlib.contextmanager
def _stderr_to(log: Path) -> Iterator[None]:
    """Redirect file descriptor 2 to the log. Processes started in the block, Java and its workers, write to the log
    until they end."""
    sys.stderr.flush()
    saved = os.dup(2)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 2)
    os.close(file)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def _explain_error(error: Exception, log: Path) -> str:
    if isinstance(error, CorpusError):
        return str(error)
    lines = log.read_text("utf-8", "replace").strip().splitlines()[-_LAST_LINES:] if log.exists() else []
    text = "\n".join(["", *lines]) if lines else ""
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if "PACKAGE_NOT_INSTALLED" in first:
        return f"Spark Connect needs more packages: type `{_CONNECT}` ({first})"
    return f"Spark did not start: {first}{text}"
