"""What a soak does, and what must hold all the while."""

import json
import random
import time

from lib.soak_places import CONT, KILL, STOP, Failure

SETTLE = 240  # seconds for the pilot to be as it should be after whatever was done to it
MOST_RESTARTS = 4  # of a service within ten minutes: one less than its policy bears
PAUSES = [2, 4, 8]  # seconds; a node that is silent for 5 is lost, and comes back


class Soak:
    """Data flow from a source to a processor while one thing after the other happens to the pilot."""

    def __init__(self, place, options):
        self.place, self.options, self.random = place, options, random.Random(options.seed)
        self.history, self.count = [], {}
        self.begun = time.monotonic()

    # -- telling --------------------------------------------------------------------------------------------

    def say(self, text):
        line = f"{time.monotonic() - self.begun:7.1f} s  {text}"
        self.history.append(line)
        print(line, flush=True)

    def summary(self):
        return ", ".join(f"{n} {what}" for what, n in sorted(self.count.items()))

    def account(self, failure):
        lines = ["--- what was done", *self.history,
                 f"repeat it with: scripts/soak --place {self.place.name} --minutes {self.options.minutes:g} --seed {self.options.seed}",
                 f"soak FAILED: {failure}"]
        return "\n".join(lines)

    def tell_state(self):
        for title, words in (("status", ["status", "soak"]), ("last events", ["events", "soak"]),
                             ("head's log", ["logs", "soak", "head", "-n", "40"])):
            self.say(f"--- the pilot's {title}")
            print(self.place.run("pilot", *words, may_fail=True)[1][-8000:], flush=True)

    # -- the run --------------------------------------------------------------------------------------------

    def run(self):
        place, messages = self.place, max(1, round(self.options.rate * self.options.minutes * 60))
        place.run("pilot", "start", "soak", "--nodes", str(place.base_nodes), "--framework", "kafka", *place.start_flags)
        try:
            self.say(f"a pilot of {place.base_nodes} nodes is ready; {messages} messages will be sent")
            source = place.start(
                place.scratch / "source", "miniapp", "source", "light", "--pilot", "soak", "--phantom", "shepp-logan",
                "--size", "64", "--angles", "32", "--slices", "8", "--rate", f"{self.options.rate:g}/s", "--count",
                str(messages), "--progress", "none", "--json")
            self.wait_for_topic(source)
            self.disturb(source)
            self.settle("the last change")
            self.account_for(source, messages)
            place.run("pilot", "stop", "soak", timeout=180)
        except Failure:
            self.tell_state()
            raise
        if left := place.leftovers():
            raise Failure("after 'pilot stop' there is left: " + "; ".join(left))

    def wait_for_topic(self, source):
        deadline = time.monotonic() + 60
        while source.poll() is None and time.monotonic() < deadline:
            if self.place.run("miniapp", "process", "gridrec", "--pilot", "soak", "--output", "probe", "--count", "1",
                              "--group", "probe", "--progress", "none", may_fail=True)[0] == 0:
                return
        raise Failure(f"no message came through: {self.said(source, 'source')}")

    def disturb(self, source):
        end = self.begun + 60 * self.options.minutes
        while time.monotonic() < end and source.poll() is None:
            name, act = self.random.choice(self.possible())
            self.count[name] = self.count.get(name, 0) + 1
            act()
            self.settle(name)

    def possible(self):
        """What can be done now, by name; each as likely as the other."""
        status = self.place.status()
        up = [n for n in status["nodes"] if n["state"] == "up"]
        extensions = [n for n in up if n["allocation"] != "a0"]
        # One that ends too often is given up, as its policy says.
        brokers = [s for s in status["services"]
                   if s["role"] == "broker" and s["state"] == "ready" and s["restarts"] < MOST_RESTARTS]
        choices = [("kills of the head", lambda: self.kill("the head agent", status["head"]["host"], status["head"]["pid"])),
                   ("kills of an agent", lambda: self.damage_agent(up, self.kill)),
                   ("pauses of an agent", lambda: self.damage_agent(up, self.pause))]
        if brokers:
            choices += [("kills of a broker", lambda: self.damage_broker(up, brokers, self.kill)),
                        ("pauses of a broker", lambda: self.damage_broker(up, brokers, self.pause))]
        if len(up) < self.place.most_nodes:
            choices.append(("extensions", self.extend))
        if extensions:
            choices.append(("shrinks", self.shrink))
            if self.place.may_crash(extensions[-1]["host"]):
                choices.append(("crashes", lambda: self.crash(extensions)))
        return choices

    # -- what is done ---------------------------------------------------------------------------------------

    def extend(self):
        self.say("extend by a node")
        self.place.run("pilot", "extend", "soak", "-N", "1", timeout=SETTLE)

    def shrink(self):
        self.say("give a node back")
        self.place.run("pilot", "shrink", "soak", "-N", "1", timeout=SETTLE)

    def kill(self, what, host, pid):
        self.say(f"kill {what} (pid {pid} on {host})")
        self.place.signal(host, pid, KILL)

    def pause(self, what, host, pid):
        seconds = self.random.choice(PAUSES)
        self.say(f"pause {what} (pid {pid} on {host}) for {seconds} s")
        self.place.signal(host, pid, STOP)
        time.sleep(seconds)
        self.place.signal(host, pid, CONT)

    def damage_agent(self, nodes, how):
        node = self.random.choice(nodes)
        how(f"the agent of {node['id']}", node["host"], node["agent_pid"])

    def damage_broker(self, nodes, brokers, how):
        broker = self.random.choice(brokers)
        host = next(n["host"] for n in nodes if n["id"] == broker["node"])
        how(broker["id"], host, broker["pid"])

    def crash(self, nodes):
        node = self.random.choice(nodes)
        self.say(f"crash {node['host']} ({node['id']})")
        self.place.crash(node["host"])
        self.settle("the crash", without=node["id"])
        self.place.boot(node["host"])

    # -- what must hold -------------------------------------------------------------------------------------

    def settle(self, after, without=None):
        """Ready again, with every service of every node that is up; `without`: a node that is to be given up."""
        deadline, problem = time.monotonic() + SETTLE, ""
        while time.monotonic() < deadline:
            try:
                problem = self.problem(self.place.status(), without)
            except Failure as failure:
                problem = str(failure)
            if not problem:
                return
            time.sleep(0.5)
        raise Failure(f"{SETTLE} s after {after}: {problem}")

    @staticmethod
    def problem(status, without):
        if not status["live"]:
            return f"the head agent does not answer: {status['note']}"
        up = {n["id"] for n in status["nodes"] if n["state"] == "up"}
        if without in up:
            return f"{without} still counts as up"
        if status["state"] != "ready":
            return f"the pilot is {status['state']}: {status['reason']}"
        if missing := [n["id"] for n in status["nodes"] if n["allocation"] == "a0" and n["id"] not in up]:
            return f"{missing} of the base are not up"
        bad = [f"{s['id']} is {s['state']}" for s in status["services"] if s["node"] in up and s["state"] != "ready"]
        return ", ".join(bad)

    def said(self, process, name):
        text = (self.place.scratch / f"{name}.err").read_text(encoding="utf-8")[-600:]
        return f"it has ended with {process.poll()}: {text}"

    def account_for(self, source, messages):
        code = source.wait(timeout=SETTLE + 60 * self.options.minutes)
        if code:
            raise Failure(f"the source failed: {self.said(source, 'source')}")
        sent = json.loads((self.place.scratch / "source").read_text(encoding="utf-8"))
        if sent["acked"] != messages:
            raise Failure(f"{sent['acked']} of {messages} messages were acknowledged")
        _, text, _ = self.place.run(
            "miniapp", "process", "gridrec", "--pilot", "soak", "--output", "out", "--until-idle", "30s", "--progress",
            "none", "--json", timeout=SETTLE + messages)
        got = json.loads(text)
        counts = {k: got[k] for k in ("messages", "stored", "duplicates", "dead_letters", "lag", "resumed_at_end", "ended_by")}
        self.say(f"{sent['acked']} acknowledged; read: {counts}")
        if got["stored"] != messages or got["messages"] != messages:
            again = self.place.run("miniapp", "process", "gridrec", "--pilot", "soak", "--output", "again", "--group", "again",
                                   "--until-idle", "10s", "--progress", "none", "--json", timeout=SETTLE + messages)[1]
            self.say(f"read again from the beginning: {json.loads(again)['messages']}; the topic: "
                     + self.place.run("pilot", "topic", "describe", "soak", "frames", "--json")[1])
            raise Failure(f"{messages} were acknowledged, {got['messages']} read and {got['stored']} stored")
