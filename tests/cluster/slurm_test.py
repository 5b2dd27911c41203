"""Jobs under a private Slurm with two simulated nodes: requeueing at the time limit, job arrays, and errors.

Starts munged, slurmctld and two slurmd in a temporary folder with their own ports and sockets, and ends them afterwards.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "command_line"))

from program import MPI_SETTINGS, OSCILLATOR, SOURCE, FolderTest, changed, run, signalled, write_recipe  # noqa: E402

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "sinfo", "squeue")
NODES = ("n1", "n2")

CONFIGURATION = """
ClusterName=bathline
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
TmpFS={folder}/tmp/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=pmix
SlurmdParameters=config_overrides
ReturnToService=2
SelectType=select/linear
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=0
KillWait=5
InactiveLimit=0
Waittime=0
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def reason_without_slurm():
    """Install missing programs if possible; return why Slurm cannot be used, or an empty text."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    os.environ["PATH"] = path
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if not missing:
        return ""
    if os.geteuid() != 0:
        return f"{', '.join(missing)} are missing, and only root can install and start them"
    if shutil.which("apt-get") is None:
        return f"{', '.join(missing)} are missing, and apt-get is not available to install them"
    command = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=60", "install", "--no-install-recommends"]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["apt-get", "-q", "update"], [*command, "slurm-wlm", "munge"]):
        done = subprocess.run(arguments, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200)
        if done.returncode != 0:
            return f"{' '.join(arguments)} failed: {done.stderr[-300:]}"
    missing = [name for name in NEEDED if shutil.which(name) is None]
    return f"{', '.join(missing)} are missing after the installation" if missing else ""


def paused_process():
    """The process of the program that a signal has paused, or None."""
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            if re.match(r"Name:\tbathline\n(.*\n)*?State:\tT", status.read_text()):
                return int(status.parent.name)
    return None


def is_pending(process, number):
    """Whether a signal waits for a paused process."""
    masks = re.findall(r"^(?:Sig|Shd)Pnd:\t(\w+)", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for free_socket in sockets:
        free_socket.bind(("127.0.0.1", 0))
    ports = [free_socket.getsockname()[1] for free_socket in sockets]
    for free_socket in sockets:
        free_socket.close()
    return ports


class Slurm:
    """A controller and its nodes, from `begin` to `end`."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="bathline-slurm-"))
        self.folder.chmod(0o755)
        self.environment = os.environ | MPI_SETTINGS
        self.environment |= {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            # Both nodes are this machine; messages between them use TCP as between real nodes.
            "OMPI_MCA_btl": "tcp,self",
            "OMPI_MCA_btl_tcp_if_include": "lo",
        }
        for name in [name for name in self.environment if name.startswith(("SLURM_JOB", "SBATCH_", "OMPI_COMM"))]:
            del self.environment[name]
        self.daemons = []

    def begin(self):
        (self.folder / "munge.key").write_bytes(os.urandom(1024))
        (self.folder / "munge.key").chmod(0o400)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        for node in NODES:
            (self.folder / "spool" / node).mkdir()
            (self.folder / "tmp" / node).mkdir(parents=True)
        host = socket.gethostname().split(".")[0]
        text = CONFIGURATION.format(host=host, folder=self.folder, ports=free_ports(3))
        (self.folder / "slurm.conf").write_text(text)
        munge = [f"--{name}={self.folder}/munge.{ending}" for name, ending in
                 (("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))]
        self.start("munged", "--foreground", "--force", *munge)
        self.wait("munge.socket", lambda: (self.folder / "munge.socket").exists())
        self.start("slurmctld", "-D", "-i")
        for node in NODES:
            self.start("slurmd", "-D", "-N", node)
        self.wait("idle nodes", lambda: self.ask("sinfo", "-h", "-o", "%t %D").split() == ["idle", str(len(NODES))])

    def start(self, *arguments):
        log = open(self.folder / f"{arguments[0]}-{len(self.daemons)}.out", "wb")
        self.daemons.append(
            subprocess.Popen(arguments, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        )
        log.close()

    def wait(self, event, condition, timeout=30.0):
        deadline = time.monotonic() + timeout
        while not condition():
            for daemon in self.daemons:
                if daemon.poll() is not None:
                    raise AssertionError(f"{daemon.args[0]} has ended: {self.logs()}")
            if time.monotonic() > deadline:
                raise AssertionError(f"no {event} within {timeout} s: {self.logs()}")
            time.sleep(0.2)

    def ask(self, *arguments, **options):
        done = subprocess.run(arguments, env=self.environment, capture_output=True, text=True, timeout=30, **options)
        return done.stdout

    def state_of(self, job):
        """State, exit code and number of restarts of a job."""
        text = self.ask("scontrol", "show", "job", job)
        cells = dict(cell.split("=", 1) for cell in text.split() if "=" in cell)
        return cells.get("JobState", ""), cells.get("ExitCode", ""), int(cells.get("Restarts", 0))

    def logs(self):
        return "\n".join(f"{path}:\n{path.read_text(errors='replace')[-1500:]}" for path in self.folder.glob("*.log"))

    def end(self):
        """End the nodes, then the controller, then munge, in the order of their dependencies."""
        if len(self.daemons) > 1:
            self.ask("scancel", "-u", "root", "--signal=KILL")
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        # The supervisors of jobs are no children of this process; they are identified by the folder.
        for process in Path("/proc").iterdir():
            if not process.name.isdigit():
                continue
            try:
                arguments = (process / "cmdline").read_bytes()
                environment = (process / "environ").read_bytes()
            except OSError:
                continue
            if str(self.folder).encode() in arguments + environment and int(process.name) != os.getpid():
                os.kill(int(process.name), signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


class SlurmTest(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        reason = reason_without_slurm()
        if reason:
            raise unittest.SkipTest(reason)
        cls.slurm = Slurm()
        cls.addClassCleanup(cls.slurm.end)
        cls.slurm.begin()

    def submit(self, *arguments, env=None):
        done = subprocess.run(
            ["sbatch", "--parsable", *map(str, arguments)],
            env=self.slurm.environment | {"BATHLINE_ROOT": str(SOURCE)} | (env or {}),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=30,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def wait_for_end(self, jobs, log, timeout):
        def ended():
            return all(self.slurm.state_of(job)[0] in ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL") for job in jobs)

        try:
            self.slurm.wait(f"end of {jobs}", ended, timeout)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{[path.read_text() for path in self.folder.glob(log)]}") from None

    def test_a_job_that_is_requeued_at_its_time_limit_ends_with_the_same_bits(self):
        # Slurm counts time limits in minutes and checks them every 30 seconds. The signal is due from the first check on,
        # since the job is always within its last 55 seconds. The first rank pauses in the middle until it has come.
        recipe = changed(OSCILLATOR, environments=[OSCILLATOR["environments"][0] | {"sites": 60000}])
        path = write_recipe(self.folder / "long.toml", recipe)
        outcome = run(["run", path, "-o", self.folder / "whole.h5", "--progress", "none"], ranks=2)
        self.assert_code(outcome, 0)
        script = SOURCE / "cluster" / "submit.slurm"
        job = self.submit(
            "-N", "2", "--ntasks-per-node=1", "-t", "1", "--signal=USR1@55", "-o", "long.log", script, path, "-o", "long.h5",
            env=signalled(signal.SIGSTOP, 30),
        )
        after = self.submit(f"--dependency=afterok:{job}", "-n", "1", "-o", "after.log", "--wrap", "echo finished")

        def is_requeued():
            # Some versions of Slurm continue a paused process themselves.
            if (paused := paused_process()) and is_pending(paused, signal.SIGUSR1):
                os.kill(paused, signal.SIGCONT)
            return self.slurm.state_of(job)[2] > 0

        self.slurm.wait("requeueing of the job", is_requeued, 120)
        self.wait_for_end([job], "*.log", 200)
        log = (self.folder / "long.log").read_text()
        state, code, restarts = self.slurm.state_of(job)
        self.assertEqual((state, code), ("COMPLETED", "0:0"), log)
        self.assertGreaterEqual(restarts, 1, log)
        self.assertEqual(log.count("requeueing job"), restarts, log)
        self.assertEqual(log.count("by SIGUSR1; continue with"), restarts, log)
        self.wait_for_end([after], "after.log", 20)
        self.assertIn("finished", (self.folder / "after.log").read_text())
        self.assert_same_bits(self.folder / "long.h5", self.folder / "whole.h5")

    def test_a_sweep_as_a_job_array(self):
        path = write_recipe(self.folder / "many.toml", OSCILLATOR)
        path.write_text(path.read_text() + "\n[sweep]\nsystem.k = [1.0, 2.0, 3.0]\n")
        script = SOURCE / "cluster" / "submit.slurm"
        array = self.submit("--array=0-2", "-N", "1", "--ntasks-per-node=2", "-t", "1", "--signal=USR1@5", "-o", "many-%a.log", script, path, "-o", "many.h5")
        self.wait_for_end([f"{array}_{i}" for i in range(3)], "many-*.log", 60)
        listing = run(["sweep", path, "-o", "many.h5"], cwd=self.folder).out
        self.assertEqual(listing.count("finished"), 3, listing + "".join(p.read_text() for p in self.folder.glob("many-*.log")))

    def test_a_usage_error_is_not_requeued(self):
        script = SOURCE / "cluster" / "submit.slurm"
        job = self.submit("-N", "1", "-t", "1", "--signal=USR1@5", "-o", "wrong.log", script, "absent.toml", "-o", "wrong.h5")
        self.wait_for_end([job], "wrong.log", 30)
        state, code, restarts = self.slurm.state_of(job)
        self.assertEqual((state, code, restarts), ("FAILED", "2:0", 0))


if __name__ == "__main__":
    unittest.main()
