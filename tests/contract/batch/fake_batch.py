#!/usr/bin/env python3
"""Stands for the commands of Slurm and of PBS: does what they were recorded to do, with jobs on this machine.

Called by the name of a command (a symbolic link).  FAKE_BATCH_DIR holds the jobs; a file `down` there makes
the controller unreachable.  There are four nodes, node01 to node04, and all of them are this machine.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

FOLDER = pathlib.Path(os.environ["FAKE_BATCH_DIR"])
NODES = [f"node{n:02}" for n in range(1, 5)]
KILL_WAIT = 60  # longer than a busy machine takes to end all in order
MARK = "FAKE_BATCH_JOB"  # in the environment of all that runs in a job


def fail(code, text):
    print(text, file=sys.stderr)
    sys.exit(code)


# ---- jobs -------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def locked():
    with open(FOLDER / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def load(number):
    try:
        return json.loads((FOLDER / f"{number}.json").read_text())
    except FileNotFoundError:
        return None


def store(job):
    temporary = FOLDER / f"{job['number']}.new"
    temporary.write_text(json.dumps(job))
    temporary.rename(FOLDER / f"{job['number']}.json")


def change(number, **values):
    with locked():
        job = load(number)
        job.update(values)
        store(job)
    return job


def all_jobs():
    numbers = sorted(int(p.stem) for p in FOLDER.glob("[0-9]*.json"))
    return [job for job in map(load, numbers) if job]


def mark_of(number):
    return f"{FOLDER}:{number}"  # other tests have jobs of the same numbers


def processes_of(number):
    mark = f"{MARK}={mark_of(number)}".encode()
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)


def signal_all(number, which):
    found = False
    for pid in processes_of(number):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, which)
            found = True
    return found


def submit(script, job):
    with locked():
        job["number"] = 1 + max((j["number"] for j in all_jobs()), default=0)
        job["script"] = pathlib.Path(script).read_text()
        job["fits"] = job["nodes"] <= len(NODES)
        job.update(state="running" if job["fits"] else "pending", hosts=NODES[:job["nodes"]] if job["fits"] else [],
                   start=int(time.time()), cancelled=False, code=0)
        store(job)
    if job["fits"]:
        subprocess.Popen([sys.executable, __file__, "__run", str(job["number"])], start_new_session=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return job


def run(number):
    """The batch host: runs the job's script to its end, then whatever it left behind ends as well."""
    job = load(number)
    script = FOLDER / f"{number}.sh"
    script.write_text(job["script"])
    environment = {MARK: mark_of(number), **SYSTEMS[job["system"]].environment(job)}
    with open(job["output"], "ab") as output:
        code = subprocess.run(["/bin/bash", str(script)], env=environment, stdin=subprocess.DEVNULL,
                              stdout=output, stderr=output, check=False, start_new_session=True).returncode
    end_processes(number)
    change(number, state="ended", code=code, end=int(time.time()))


def end_processes(number):
    signal_all(number, signal.SIGTERM)
    deadline = time.monotonic() + KILL_WAIT
    while any(processes_of(number)):
        if time.monotonic() > deadline:
            signal_all(number, signal.SIGKILL)
        time.sleep(0.02)


def keep_nodes(job, kept):
    """The others are lost to the job, with all that runs there."""
    dropped = [host for host in job["hosts"] if host not in kept]
    change(job["number"], hosts=[host for host in job["hosts"] if host in kept], resized=True)
    for pid in list(processes_of(job["number"])):
        with contextlib.suppress(OSError):
            environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if any(f"FAKE_BATCH_NODE={host}".encode() in environment for host in dropped):
                os.kill(pid, signal.SIGKILL)


def cancel(job):
    if job["state"] == "pending" or job.get("expands"):
        change(job["number"], state="ended", cancelled=True, end=int(time.time()))
    elif job["state"] == "running":
        change(job["number"], cancelled=True)
        if os.fork() == 0:  # the command returns at once
            os.setsid()
            end_processes(job["number"])
            os._exit(0)


def run_on(nodes, argv, environment_of):
    """Runs the command on each of the nodes and waits; the largest exit code."""
    running = [subprocess.Popen(argv, env=environment_of(node), start_new_session=True) for node in nodes]

    def forward(which, _):
        for process in running:
            process.send_signal(which)
    signal.signal(signal.SIGTERM, forward)
    return max((abs(process.wait()) for process in running), default=0)


# ---- Slurm ------------------------------------------------------------------------------------------------

class Slurm:
    DOWN = "Unable to contact slurm controller (connect failure)"

    @staticmethod
    def environment(job):
        return {**os.environ, "SLURM_JOB_ID": str(job["number"]), "SLURM_JOB_NODELIST": ",".join(job["hosts"]),
                "SLURM_JOB_NUM_NODES": str(len(job["hosts"])), "SLURM_SUBMIT_HOST": "localhost"}

    @staticmethod
    def check_up(tool):
        if (FOLDER / "down").exists():
            fail(1, f"{tool}: error: {Slurm.DOWN}")

    @staticmethod
    def sbatch(arguments):
        Slurm.check_up("sbatch: error: Batch job submission failed")
        options = {}
        for line in pathlib.Path(arguments[-1]).read_text().splitlines():
            if line.startswith("#SBATCH "):
                for word in shlex.split(line[8:]):
                    name, _, value = word.partition("=")
                    options[name.lstrip("-")] = value
        if options.get("partition", "normal") != "normal":
            fail(1, f"sbatch: error: invalid partition specified: {options['partition']}\n"
                    "sbatch: error: Batch job submission failed: Invalid partition name specified")
        job = submit(arguments[-1], {"system": "slurm", "name": options["job-name"], "nodes": int(options["nodes"]),
                                     "comment": options.get("comment", ""),
                                     "output": options["output"].replace("%%", "%"),
                                     "walltime": 60 * int(options.get("time", "10"))})
        print(job["number"])

    @staticmethod
    def salloc(arguments):
        """A job without a script, which can do nothing but hand its nodes over; while a file `busy` is there it waits."""
        Slurm.check_up("salloc: error: Job submit/allocate failed")
        options = dict(word.lstrip("-").partition("=")[::2] for word in arguments)
        if (FOLDER / "no_expansion").exists():
            fail(1, "salloc: error: Job submit/allocate failed: Requested operation not supported on this system")
        free = [node for node in NODES if node not in options.get("exclude", "").split(",")]
        with locked():
            job = {"system": "slurm", "name": options["job-name"], "comment": options["comment"], "fits": True,
                   "number": 1 + max((j["number"] for j in all_jobs()), default=0), "nodes": int(options["nodes"]),
                   "expands": options["dependency"].removeprefix("expand:"), "state": "pending", "hosts": [],
                   "start": int(time.time()), "walltime": 60 * int(options["time"]), "cancelled": False, "code": 0}
            store(job)
        if (FOLDER / "busy").exists():
            print(f"salloc: Pending job allocation {job['number']}", file=sys.stderr, flush=True)
        while (FOLDER / "busy").exists():
            if not FOLDER.exists() or load(job["number"])["cancelled"]:
                fail(1, "salloc: error: Job allocation has been revoked")
            time.sleep(0.02)
        change(job["number"], state="running", hosts=free[:job["nodes"]])
        print(f"salloc: Granted job allocation {job['number']}", file=sys.stderr)

    @staticmethod
    def state_of(job):
        if job["state"] == "running":
            return ("COMPLETING", "None") if job["cancelled"] else ("RUNNING", "None")
        if job["state"] == "pending":
            return "PENDING", "Resources" if job["fits"] else "PartitionConfig"
        if job["cancelled"]:
            return "CANCELLED", "None"
        return ("COMPLETED", "None") if job["code"] == 0 else ("FAILED", "NonZeroExitCode")

    @staticmethod
    def squeue(arguments):
        if (FOLDER / "down").exists():
            fail(1, f"slurm_load_jobs error: {Slurm.DOWN}")
        options = dict(word.lstrip("-").partition("=")[::2] for word in arguments)
        jobs = all_jobs()
        if "jobs" in options:
            wanted = options["jobs"].split(",")
            jobs = [job for job in jobs if str(job["number"]) in wanted]
            if not jobs:
                fail(1, "slurm_load_jobs error: Invalid job id specified")
        if "name" in options:
            jobs = [job for job in jobs if job["name"] == options["name"]]
        for job in jobs:
            state, reason = Slurm.state_of(job)
            ends = job.get("end", job["start"] + job["walltime"]) if job["fits"] else "N/A"
            print(options["format"].replace("%i", str(job["number"])).replace("%T", state).replace("%r", reason)
                  .replace("%S", str(job["start"])).replace("%e", str(ends)).replace("%N", ",".join(job["hosts"]))
                  .replace("%k", job["comment"]).replace("%D", str(len(job["hosts"]))))

    @staticmethod
    def sacct(_):
        fail(1, "Slurm accounting storage is disabled")

    @staticmethod
    def scancel(arguments):
        if (FOLDER / "down").exists():
            fail(8, f"scancel: error: Kill job error on job id {arguments[-1]}: {Slurm.DOWN}")
        if job := load(arguments[-1]):
            cancel(job)

    @staticmethod
    def scontrol(arguments):
        if arguments[:2] == ["show", "config"]:
            permit = "" if (FOLDER / "no_expansion").exists() else "permit_job_expansion,"
            print("AccountingStorageType   = accounting_storage/none\nBOOT_TIME               = now\n"
                  f"SchedulerParameters     = {permit}bf_interval=5")
        elif arguments[0] == "update":
            Slurm.resize(dict(word.split("=", 1) for word in arguments[1:]))
        elif arguments[:2] == ["show", "hostnames"]:
            print("\n".join(arguments[2].split(",")))
        elif "job" in arguments and (job := load(arguments[-1])):
            print(f"JobId={job['number']} " + " ".join(f"Nodes={n} CPU_IDs=0-3 Mem=512 GRES=" for n in job["hosts"]))

    @staticmethod
    def resize(options):
        if (FOLDER / "down").exists():
            fail(1, f"slurm_update error: {Slurm.DOWN}")
        job = load(options["JobId"])
        if not job or job["state"] != "running":
            fail(1, f"Invalid job id specified for job {options['JobId']}")
        if "NumNodes" in options:
            return Slurm.hand_over(job, options["NumNodes"])
        kept = [f"node{int(n):02}" for word in re.findall(r"[\d,-]+", options["NodeList"].replace("node", ""))
                for part in word.split(",") for n in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)]
        if job["hosts"][0] not in kept:
            fail(1, f"Invalid node name specified for job {job['number']}")
        if job.get("resized"):
            fail(1, "Job update not available right now, the DB index is being set, try again in a bit for job "
                 f"{job['number']}")
        keep_nodes(job, kept)

    @staticmethod
    def hand_over(job, nodes):
        if nodes == "ALL":
            return
        if not job.get("expands"):
            fail(1, f"Job step already exists for job {job['number']}")
        change(job["expands"], hosts=load(job["expands"])["hosts"] + job["hosts"])
        change(job["number"], hosts=[], state="ended", end=int(time.time()))

    @staticmethod
    def srun(arguments):
        options = {}
        while arguments and arguments[0].startswith("-"):
            name, _, value = arguments.pop(0).partition("=")
            options[name] = value
        number = options.get("--jobid", os.environ.get("SLURM_JOB_ID", ""))
        job = load(number)
        if not job or job["state"] != "running" or job["cancelled"]:
            fail(1, "srun: error: Unable to confirm allocation for job: Invalid job id specified")
        nodes = options["--nodelist"].split(",") if "--nodelist" in options else job["hosts"]
        sys.exit(run_on(nodes, arguments, lambda node: {
            **os.environ, MARK: mark_of(number), "SLURM_PROCID": str(job["hosts"].index(node)),
            "SLURM_CPUS_ON_NODE": "4", "SLURMD_NODENAME": node, "FAKE_BATCH_NODE": node}))


# ---- PBS --------------------------------------------------------------------------------------------------

class Pbs:
    @staticmethod
    def environment(job):
        nodefile = FOLDER / f"{job['number']}.nodes"  # only the job's own shell is told on the first node
        nodefile.write_text("".join(f"{host}\n" for host in job["hosts"]))
        return {**Pbs.task_environment(job, job["hosts"][0]), "PBS_O_HOST": "localhost",
                "PBS_NODEFILE": str(nodefile)}

    @staticmethod
    def check_up(tool, code):
        if (FOLDER / "down").exists():
            fail(code, f"Connection refused\n{tool}: cannot connect to server head (errno=15010)")

    @staticmethod
    def qsub(arguments):
        Pbs.check_up("qsub", 162)
        job = {"system": "pbs", "nodes": 1, "output": "/dev/null", "walltime": 0, "queue": "workq"}
        for line in pathlib.Path(arguments[-1]).read_text().splitlines():
            words = line[5:].split() if line.startswith("#PBS ") else []
            if words[:1] == ["-N"]:
                job["name"] = words[1]
            elif words[:1] == ["-q"]:
                job["queue"] = words[1]
            elif words[:1] == ["-l"] and words[1].startswith("select="):
                job["nodes"] = int(re.match(r"select=(\d+)", words[1])[1])
            elif words[:1] == ["-l"] and words[1].startswith("walltime="):
                hours, minutes, seconds = map(int, words[1][9:].split(":"))
                job["walltime"] = 3600 * hours + 60 * minutes + seconds
        if job["queue"] != "workq":
            fail(170, "qsub: Unknown queue")
        print(f"{submit(arguments[-1], job)['number']}.head")

    @staticmethod
    def qstat(arguments):
        Pbs.check_up("qstat", 255)
        past, code = "-x" in arguments, 0
        for word in [a for a in arguments if not a.startswith("-")]:
            job = load(word.split(".")[0])
            if not job or word.endswith(".elsewhere"):
                code = 153
                print(f"qstat: Unknown Job Id {word}", file=sys.stderr)
            elif job["state"] == "ended" and not past:
                code = 35
                print(f"qstat: {word} Job has finished, use -x or -H to obtain historical job information",
                      file=sys.stderr)
            else:
                Pbs.show(job)
        sys.exit(code)

    @staticmethod
    def show(job):
        letter = {"running": "E" if job["cancelled"] else "R", "pending": "Q", "ended": "F"}[job["state"]]
        lines = [f"Job_Name = {job['name']}", f"job_state = {letter}", "queue = workq"]
        if job["hosts"]:
            lines.append("exec_host = " + "+".join(f"{host}/0" for host in job["hosts"]))
        else:
            lines.append("comment = Can Never Run: Not enough total nodes available")
        if job["walltime"]:
            lines.append(time.strftime("Resource_List.walltime = %H:%M:%S", time.gmtime(job["walltime"])))
        lines.append(time.strftime("stime = %a %b %d %H:%M:%S %Y", time.gmtime(job["start"])))
        if job["state"] == "ended":
            code = 271 if job["cancelled"] else job["code"]
            lines += [f"substate = {91 if job['cancelled'] else 92}", f"Exit_status = {code}"]
        print(f"Job Id: {job['number']}.head")
        print("".join(f"    {line}\n" for line in lines))

    @staticmethod
    def qselect(arguments):
        Pbs.check_up("qselect", 255)
        for job in all_jobs():
            if job["name"] == arguments[-1] and job["state"] != "ended":
                print(f"{job['number']}.head")

    @staticmethod
    def qdel(arguments):
        Pbs.check_up("qdel", 162)
        job = load(arguments[-1].split(".")[0])
        if not job:
            fail(153, f"qdel: Unknown Job Id {arguments[-1]}")
        if job["state"] == "ended":
            fail(35, f"qdel: Job has finished {arguments[-1]}")
        cancel(job)

    @staticmethod
    def pbs_release_nodes(arguments):
        Pbs.check_up("pbs_release_nodes", 162)
        job, nodes = load(arguments[1].split(".")[0]), arguments[2:]
        if not job:
            fail(153, f"pbs_release_nodes: Unknown Job Id {arguments[1]}")
        if job["state"] != "running":
            fail(35, "pbs_release_nodes: Job has finished")
        if time.time() < job["start"] + 2:
            fail(168, "pbs_release_nodes: Request invalid for state of job ")
        if job["hosts"][0] in nodes:
            fail(162, f"pbs_release_nodes: Can't free '{job['hosts'][0]}' since it's on a primary execution host ")
        if not set(nodes) <= set(job["hosts"]):
            fail(162, "pbs_release_nodes: Server returned error 15010 for job ")
        keep_nodes(job, [host for host in job["hosts"] if host not in nodes])

    @staticmethod
    def job_here(tool):
        job = load(os.environ.get("PBS_JOBID", "none").split(".")[0])
        if not job:
            fail(1, f"{tool}: no PBS_JOBID in the environment")
        return job

    @staticmethod
    def task_environment(job, node):  # nothing of the user's
        return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), MARK: mark_of(job["number"]),
                "FAKE_BATCH_DIR": str(FOLDER), "FAKE_BATCH_NODE": node, "NCPUS": "1", "OMP_NUM_THREADS": "1",
                "PBS_JOBID": f"{job['number']}.head", "PBS_NODENUM": str(job["hosts"].index(node))}

    @staticmethod
    def pbsdsh(arguments):
        job = Pbs.job_here("pbsdsh")
        argv = arguments[arguments.index("--") + 1:]
        if "-o" in arguments:  # it does not wait for them
            for node in job["hosts"]:
                subprocess.Popen(argv, env=Pbs.task_environment(job, node), start_new_session=True)
        else:
            run_on(job["hosts"], argv, lambda node: Pbs.task_environment(job, node))

    @staticmethod
    def hostname(arguments):
        node = os.environ.get("FAKE_BATCH_NODE")
        if arguments or not node:
            os.execv("/bin/hostname", ["hostname", *arguments])
        print(node)


SYSTEMS = {"slurm": Slurm, "pbs": Pbs}
TOOLS = {"slurm": ["sbatch", "squeue", "sacct", "salloc", "scancel", "scontrol", "srun"],
         "pbs": ["qsub", "qstat", "qselect", "qdel", "pbsdsh", "pbs_release_nodes", "hostname"]}


def main():
    tool = pathlib.Path(sys.argv[0]).name
    if sys.argv[1:2] == ["__run"]:
        return run(int(sys.argv[2]))
    for system, tools in TOOLS.items():
        if tool in tools:
            return getattr(SYSTEMS[system], tool)(sys.argv[1:])
    # fake_batch.py FOLDER: makes the links.
    for tools in TOOLS.values():
        for name in tools:
            os.symlink(os.path.realpath(__file__), f"{sys.argv[1]}/{name}")
    return None


if __name__ == "__main__":
    main()
