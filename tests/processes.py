"""Processes that begin with the package imported, which takes longer than most tests.

They are forked from a server, which has imported modules and done nothing else, where
systems have that (not Windows). Tests of what a process imports, or of how it begins,
start Python itself.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
from multiprocessing.connection import Connection
from pathlib import Path

#: What takes time to import; the rest a process imports itself.
IMPORTED = [
    *("pandas", "pyarrow.dataset", "pyarrow.parquet", "rich.progress"),
    *("sklearn.ensemble", "sklearn.model_selection", "sklearn.tree"),
    *("sklearn_textbook.cli.commands", "sklearn_textbook.cli.fit"),
]


def _run(code, arguments, folder, environment, outputs):
    """Run a program in the forked process."""
    for number, end in enumerate(outputs, 1):
        os.dup2(end.fileno(), number)
        end.close()
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c", *arguments]
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})


class Program:
    """A running program of Python, with the methods of ``subprocess.Popen``.

    Parameters
    ----------
    code : str
        Its text.
    *arguments : str
        The rest of ``sys.argv``.
    output : int, default=None
        File descriptor for output and errors; None makes a pipe of the output.
    cwd : path-like, default="."
        Where it runs.
    env : dict, default=None
        Its variables; None takes those of this process.
    """

    def __init__(self, code, *arguments, output=None, cwd=".", env=None):
        ends = [output, output]
        self.stdout, self._errors = None, None
        if output is None:
            reader, writer = os.pipe()
            self.stdout = os.fdopen(reader)
            self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
            ends = [writer, self._errors.fileno()]
        # Each goes to the process with the one object that can be sent there.
        outputs = [Connection(os.dup(end)) for end in ends]
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(IMPORTED)
        env = dict(os.environ) if env is None else env
        self._process = context.Process(
            target=_run, args=(code, arguments, str(Path(cwd).resolve()), env, outputs)
        )
        self._process.start()
        for end in outputs:
            end.close()
        if output is None:
            os.close(writer)

    @property
    def returncode(self):
        return self._process.exitcode

    def send_signal(self, number):
        os.kill(self._process.pid, number)

    def kill(self):
        self._process.kill()

    def wait(self):
        self._process.join()
        return self.returncode

    def communicate(self, timeout):
        """Wait for the end; kill a process that takes longer than the timeout."""
        timer = threading.Timer(timeout, self.kill)
        timer.start()
        with self.stdout, self._errors:
            output = self.stdout.read()
            self.wait()
            timer.cancel()
            self._errors.seek(0)
            return output, self._errors.read()


def run_program(code, *arguments, timeout=120):
    """Run a program of Python to its end, as ``subprocess.run`` does."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, check=False
        )
    program = Program(code, *arguments)
    output, errors = program.communicate(timeout)
    return subprocess.CompletedProcess(code, program.returncode, output, errors)
