"""Programs that a stranger could pack: what each tries, and what must come of it.

Each is a body of ``attack``, called in the middle of step 2 of a calm experiment. It returns
something true where it succeeded, and then the weights change and the verdict is ``differs``. So
``identical`` means: it was tried, it did not work, and the run went on as if nothing had been.
Every program is harmless where the defence fails: canaries are files of the test's own, bombs have
ceilings of their own, signals are such as are ignored.
"""

# ruff: noqa: E501 - one line a program

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent

from tests.support.experiment_sources import CALM

PRELUDE = """\
import ctypes, glob, mmap, platform, resource, signal, socket, subprocess, threading, time

ARM = platform.machine() == "aarch64"
HANDED = Path.cwd().parent / "handed"

def call(x86, arm, *arguments):
    function = ctypes.CDLL(None, use_errno=True).syscall
    return function(arm if ARM else x86, *map(ctypes.c_long, arguments)) >= 0

def fork(work):
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child

def channel():
    \"\"\"The descriptor on which the worker speaks.\"\"\"
    import stat
    for name in sorted(map(int, os.listdir("/proc/self/fd"))):
        try:
            if name > 2 and stat.S_ISFIFO(os.fstat(name).st_mode):
                return name
        except OSError:
            pass

def before_message(kind, work):
    \"\"\"Do something right before the worker says something of one kind.\"\"\"
    from repropack._run import session
    say = session.Session.say
    def saying(self, message):
        if message.kind == kind:
            work(self)
        say(self, message)
    session.Session.say = saying

"""

_EXPERIMENT = """
class Experiment(Calm):
    def update(self, trace):
        super().update(trace)
        if self.count == 2:
            try:
                succeeded = attack()
            except (OSError, MemoryError, ValueError, LookupError, subprocess.SubprocessError):
                succeeded = False
            if succeeded:
                self.weights = self.weights + 1e6
"""

HELD = "identical"
"""Tried, and nothing came of it."""


@dataclass(frozen=True)
class Program:
    """What is tried, and what must come of it.

    ``outcome`` is ``identical``, or words of the message of a run that gave no answer. ``only`` is
    the one level at which that is so; at the other, ``other`` is.
    """

    name: str
    body: str
    outcome: str = HELD
    beside_landlock: str | None = None

    def source(self, canaries: dict[str, object]) -> str:
        """The module to be packed; ``canaries`` are known in it by ``C``."""
        attack = f"def attack():\n{indent(dedent(self.body).strip(), '    ')}\n"
        return f"{CALM}{PRELUDE}C = {canaries!r}\n\n{attack}{_EXPERIMENT}"

    def expected(self, level: str) -> str:
        if level == "landlock" and self.beside_landlock is not None:
            return self.beside_landlock
        return self.outcome


_FILES = (
    Program("reads-a-secret", "return open(C['secret']).read()"),
    Program("reads-a-key", "return open(C['home'] + '/.ssh/id_ed25519').read()"),
    Program("lists-the-home", "return 'notes.txt' in os.listdir(C['home'])"),
    Program("reads-shadow", "return open('/etc/shadow').read()"),
    Program("reads-users", "return open('/etc/passwd').read()"),
    Program("reads-logs", "return [open(p).read() for p in glob.glob('/var/log/*.log')]"),
    Program("reads-run", "return os.listdir('/run')"),
    Program("reads-the-package", "return os.listdir(C['package'])"),
    Program(
        "looks-for-results",
        """
        found = []
        places = {*Path.cwd().parents, Path(C['package']), Path(C['home']), Path('/tmp')}
        for place in {Path.cwd(), *places} - {Path('/')}:
            for folder, _, files in os.walk(place):
                found += [n for n in files if n in ('fingerprints.jsonl', 'results.json', 'manifest.json')]
        return found
        """,
    ),
    Program("writes-outside", "open(C['outside'] + '/new', 'w').write('x')"),
    Program("writes-to-the-home", "open(C['home'] + '/.profile', 'w').write('x')"),
    Program("appends-to-a-secret", "open(C['secret'], 'a').write('x')"),
    Program("empties-a-secret", "os.truncate(C['secret'], 0)"),
    Program("removes-a-secret", "os.unlink(C['secret'])"),
    Program("moves-a-secret", "os.rename(C['secret'], 'mine'); return open('mine').read()"),
    Program("links-a-secret", "os.link(C['secret'], 'mine'); return open('mine').read()"),
    Program("points-to-a-secret", "os.symlink(C['secret'], 'mine'); return open('mine').read()"),
    Program("opens-up-a-secret", "os.chmod(C['secret'], 0o777)"),
    Program("reads-a-secrets-tags", "os.listxattr(C['secret']); return True"),
    Program("flags-a-library", "import fcntl; f = os.open(os.__file__, os.O_RDONLY); b = bytearray(8); fcntl.ioctl(f, 0x80086601, b); fcntl.ioctl(f, 0x40086602, bytes(b)); return True"),
    Program("opens-a-kernel-setting", "return os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)"),
    Program("gives-a-secret-away", "os.chown(C['secret'], 1234, 1234)"),
    Program("touches-a-secret", "os.utime(C['secret'], (1, 1))"),
    Program("tags-a-secret", "os.setxattr(C['secret'], 'user.mine', b'x')"),
    Program("edits-its-source", "open(__file__, 'a').write('x'); return True"),
    Program("replaces-its-source", "os.rename(__file__, __file__ + '.old'); return True"),
    Program("edits-the-interpreter", "open(os.__file__, 'a'); return True"),
    Program("makes-a-device", "import stat; os.mknod('zero', 0o600 | stat.S_IFCHR, os.makedev(1, 5)); return open('zero', 'rb').read(1)"),
    Program("reads-a-disk", "return [open(p, 'rb').read(1) for p in ('/dev/vda', '/dev/sda', '/dev/mem')]"),
    Program("takes-a-terminal", "return os.open('/dev/tty', os.O_RDWR)"),
    Program("leaves-the-root", "os.chroot('.'); return True"),
)  # fmt: skip

_ENVIRONMENT = (
    Program("reads-variables", "return C['variable'] in os.environ"),
    Program("reads-the-judges-variables", "return '\\0' + C['variable'] + '=' in open(f\"/proc/{C['judge']}/environ\").read()"),
    Program(
        "reads-everyones-variables",
        """
        for place in glob.glob('/proc/[0-9]*/environ'):
            try:
                if '\\0' + C['variable'] + '=' in open(place).read():
                    return place
            except OSError:
                pass
        """,
    ),
    Program("reads-the-judges-memory", "return open(f\"/proc/{C['judge']}/mem\", 'rb')"),
    Program("reads-the-judges-files", "return os.listdir(f\"/proc/{C['judge']}/fd\")"),
    Program("reads-command-lines", "return open(f\"/proc/{C['judge']}/cmdline\").read()"),
)  # fmt: skip

_NETWORK = (
    Program("connects", "s = socket.create_connection(('127.0.0.1', C['tcp']), 2); s.sendall(b'x'); return True"),
    Program("connects-over-ipv6", "return socket.socket(socket.AF_INET6)"),
    Program("sends-a-datagram", "return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', C['udp']))"),
    Program("asks-for-a-name", "return socket.getaddrinfo('example.org', 80)"),
    Program("listens", "return socket.create_server(('127.0.0.1', 0))"),
    Program("sniffs", "return socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"),
    Program("talks-to-the-kernel", "return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
    Program("talks-to-the-host", "return socket.socket(40, socket.SOCK_STREAM)"),
    Program("uses-a-named-socket", "s = socket.socket(socket.AF_UNIX); s.connect(C['named']); return True"),
    Program("sends-from-a-pair", "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); return a"),
    Program("uses-an-abstract-socket", "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + C['abstract']); return True"),
)  # fmt: skip

_KERNEL = (
    Program("traces-its-parent", "return call(101, 117, 16, os.getppid(), 0, 0)"),
    Program("reads-its-parents-memory", "return open(f'/proc/{os.getppid()}/mem', 'rb') and os.getppid() != 1"),
    Program("copies-from-the-judge", "return call(310, 270, C['judge'], 0, 0, 0, 0, 0)"),
    Program("takes-the-judges-descriptor", "p = os.pidfd_open(C['judge']); return call(438, 438, p, 0, 0)"),
    Program("makes-a-ring", "parameters = ctypes.create_string_buffer(120); return call(425, 425, 1, ctypes.addressof(parameters))"),
    Program("makes-a-user-namespace", "return call(272, 97, 0x10000000)"),
    Program("makes-a-process-in-one", "return call(56, 220, 0x10000000 | 17, 0, 0, 0, 0) and False or call(435, 435, 0, 0)"),
    Program("joins-a-namespace", "return call(308, 268, os.open('/proc/self/ns/net', os.O_RDONLY), 0)"),
    Program("mounts", "return call(165, 40, 0, 0, 0, 0, 0) or call(428, 428, -100, 0, 0)"),
    Program("keeps-a-key", "return call(248, 217, 0, 0, 0, 0, 0) or call(250, 219, 0, -3, 1)"),
    Program("loads-a-program", "return call(321, 280, 0, 0, 0)"),
    Program("measures", "return call(298, 241, 0, 0, -1, -1, 0)"),
    Program("handles-faults", "return call(323, 282, 1)"),
    Program("changes-personality", "return call(135, 92, 0x0040000)"),
    Program("shares-memory-for-ever", "return call(29, 194, 0, 4096, 0o1600)"),
    Program("hides-memory", "return call(319, 279, ctypes.addressof(ctypes.create_string_buffer(b'x')), 0)"),
    Program("watches-files", "watch = ctypes.CDLL(None).inotify_add_watch\nreturn watch(ctypes.CDLL(None).inotify_init(), C['home'].encode(), 0xFFF) >= 0"),
    Program("types-on-the-terminal", "import fcntl; fcntl.ioctl(2, 0x5412, b'x'); return True"),
    Program("uses-32-bit-calls", "return not ARM and fork(lambda: ctypes.CDLL(None).syscall(0x40000000 + 57)) < 0"),
    Program("becomes-another-user", "return [os.setuid(0), os.setgroups([0])] if os.getuid() else os.setuid(1234)"),
    Program("raises-its-limits", "resource.setrlimit(resource.RLIMIT_AS, (-1, -1)); return True"),
    Program("limits-the-judge", "old = resource.prlimit(C['judge'], resource.RLIMIT_NOFILE); resource.prlimit(C['judge'], resource.RLIMIT_NOFILE, old); return True"),
    Program("slows-the-judge", "os.setpriority(os.PRIO_PROCESS, C['judge'], 0); return True"),
)  # fmt: skip

_SIGNALS = (
    Program("signals-the-judge", "os.kill(C['judge'], signal.SIGURG); return True"),
    Program("signals-its-parent", "os.kill(os.getppid(), signal.SIGURG); return os.getppid() > 2"),
    Program("signals-by-descriptor", "p = os.pidfd_open(C['judge']); signal.pidfd_send_signal(p, signal.SIGURG); return True"),
    Program("signals-everyone", "os.kill(-1, signal.SIGURG)"),
    Program("signals-its-group", "os.killpg(C['group'], signal.SIGURG); return True"),
    Program("orders-a-signal", "import fcntl; r, w = os.pipe(); fcntl.fcntl(r, fcntl.F_SETOWN, C['judge']); return False"),
)  # fmt: skip

_LIMIT = "limit {} exceeded: allowed"
_PROCESSES = _LIMIT.format("max_run_processes")
_MEMORY = _LIMIT.format("max_run_memory_bytes")
_SCRATCH = _LIMIT.format("max_run_scratch_bytes")
_SECONDS = _LIMIT.format("max_run_seconds")

_GREED = (
    Program("forks", "for k in range(100): fork(lambda: time.sleep(20))\ntime.sleep(20)", _PROCESSES),
    Program("multiplies", "end = time.monotonic() + 10\nwhile time.monotonic() < end:\n    try: os.fork()\n    except OSError: pass\n    time.sleep(0.01)\nos._exit(0)", "limit max_run_"),
    Program("starts-threads", "threading.stack_size(1 << 17)\nfor k in range(100): threading.Thread(target=time.sleep, args=(20,), daemon=True).start()\ntime.sleep(20)", _PROCESSES),
    Program("takes-memory", "kept = [b'x' * (40 << 20) for k in range(14)]\ntime.sleep(20)", _MEMORY),
    Program("takes-memory-together", "for k in range(5): fork(lambda: (b'x' * (100 << 20), time.sleep(20)))\ntime.sleep(20)", _MEMORY),
    Program("takes-shared-memory", "kept = mmap.mmap(-1, 500 << 20)\nfor k in range(500): kept[k << 20:(k + 1) << 20] = b'x' * (1 << 20)\ntime.sleep(20)", _MEMORY),
    Program(
        "takes-memory-behind-a-dead-thread",
        """
        def take():
            time.sleep(0.5)
            kept = [b'x' * (40 << 20) for k in range(14)]
            time.sleep(20)
        def leave():
            threading.Thread(target=take).start()
            call(60, 93, 0)
        fork(leave)
        time.sleep(20)
        """,
        _MEMORY,
    ),
    Program("makes-files-in-memory", "for k in range(2000): Path(f'/tmp/file-{k}').touch()\ntime.sleep(20)", _LIMIT.format("max_run_files"), HELD),
    Program("opens-too-much", "kept = [os.open('/dev/null', os.O_RDONLY) for k in range(2000)]\ntime.sleep(20)", _LIMIT.format("max_run_files")),
    Program("maps-too-much", "return mmap.mmap(-1, 8 << 30)"),
    Program("fills-a-file", "try:\n    with open('large', 'wb') as stream:\n        for k in range(64): stream.write(b'x' * (1 << 20))\nexcept OSError: pass\ntime.sleep(20)", _SCRATCH),
    Program("fills-files", "for k in range(64): Path(f'file-{k}').write_bytes(b'x' * (1 << 20))\ntime.sleep(20)", _SCRATCH),
    Program("fills-the-handed-folder", "for k in range(64): (HANDED / f'file-{k}').write_bytes(b'x' * (1 << 20))\ntime.sleep(20)", _SCRATCH),
    Program("fills-files-without-names", "kept = []\nfor k in range(40):\n    kept.append(open('now', 'wb'))\n    kept[-1].write(b'x' * (1 << 20)); kept[-1].flush(); os.unlink('now')\ntime.sleep(20)", _SCRATCH),
    Program("fills-a-folder-that-none-may-read", "os.mkdir('d', 0o300)\nfor k in range(64): Path(f'd/{k}').write_bytes(b'x' * (1 << 20))\ntime.sleep(20)", _SCRATCH),
    Program("fills-a-folder-that-none-may-look-into", "os.mkdir('d', 0o700)\nkept = [open(f'd/{k}', 'wb') for k in range(64)]\nos.chmod('d', 0o400)\nfor f in kept: f.write(b'x' * (1 << 20)); f.flush()\ntime.sleep(20)", _SCRATCH),
    Program("makes-files", "for k in range(2000): Path(f'file-{k}').touch()\ntime.sleep(20)", _LIMIT.format("max_run_files")),
    Program("makes-deep-folders", "for k in range(300): os.mkdir('d'); os.chdir('d')\ntime.sleep(20)", _LIMIT.format("max_run_depth")),
    Program("makes-a-sparse-file", "os.truncate(os.open('sparse', os.O_CREAT | os.O_RDWR), 1 << 40); return True"),
    Program("locks-a-folder", "os.mkdir('locked'); Path('locked/file').touch(); os.mkdir('locked/in'); os.chmod('locked/in', 0); os.chmod('locked', 0)"),
    Program("dumps-core", "c = fork(os.abort); os.waitpid(c, 0); return glob.glob('core*')"),
    Program("sleeps", "time.sleep(60)", _SECONDS),
    Program("computes-for-ever", "end = time.monotonic() + 60\nwhile time.monotonic() < end: pass", _SECONDS),
    Program("stops-itself", "os.kill(os.getpid(), signal.SIGSTOP)", _SECONDS),
)  # fmt: skip

_LEFTOVERS = (
    Program("leaves-a-daemon", "fork(lambda: (os.setsid(), fork(lambda: time.sleep(60))))"),
    Program("leaves-a-stopped-child", "c = fork(lambda: time.sleep(60)); os.kill(c, signal.SIGSTOP)"),
    Program("leaves-a-deaf-child", "fork(lambda: ([signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)], os.setsid(), time.sleep(60)))"),
    Program("leaves-a-command", "subprocess.Popen(['/bin/sleep', '60'], start_new_session=True)"),
    Program(
        "leaves-a-runaway",
        """
        def run(left=3000):
            os.setsid()
            while left and os.fork() == 0:
                left -= 1
        fork(run)
        """,
    ),
)  # fmt: skip

_OUTPUT = (
    Program("floods-standard-error", "for k in range(64): os.write(2, b'x' * (1 << 20))"),
    Program("floods-standard-output", "for k in range(64): print('x' * (1 << 20))"),
    Program("floods-for-ever", "end = time.monotonic() + 60\nwhile time.monotonic() < end: os.write(2, b'x' * 65536)", _SECONDS),
    Program("writes-to-the-terminal", "os.write(2, b'\\x1b]0;mine\\x07\\x1b[2J last words\\n'); os._exit(3)", "the worker ended with status 3 after step 1"),
    Program("floods-the-messages", "c = channel()\nfor k in range(80): os.write(c, b'x' * (1 << 20))", "limit max_document_bytes exceeded"),
    Program("speaks-nonsense", "os.write(channel(), b'{}\\n')", "the worker sent no valid message"),
    Program("forges-a-step", "os.write(channel(), b'{\"kind\":\"stepped\",\"step\":9,\"stages\":null,\"declarations\":null,\"state\":null,\"metrics\":{},\"printed\":{},\"finish\":null}\\n')", "expected step 2, observed step 9"),
    Program("forges-an-end", "os.write(channel(), b'{\"kind\":\"finished\"}\\n')", "expected a checkpoint after step 1, observed an end"),
    Program("speaks-at-length", "os.write(channel(), b'{\"kind\":\"failed\",\"reason\":\"step\",\"name\":\"\",\"message\":\"' + b'x' * (1 << 20) + b'\"}\\n')", "the worker sent no valid message"),
    Program(
        "tells-no-number",
        """
        from repropack._run import session
        say = session.Session.say
        def saying(self, message):
            if message.kind == "stepped":
                message = message.model_copy(update={"metrics": {"loss": {"$int": "x"}}})
            say(self, message)
        session.Session.say = saying
        """,
        "expected a number, observed",
    ),
    Program("forges-a-checkpoint", "os.write(channel(), b'{\"kind\":\"checkpointed\",\"step\":1}\\n')", "checkpoint step-000000001 cannot be adopted"),
)  # fmt: skip

_ADOPTED = "checkpoint step-000000002 cannot be adopted"
_HANDED = (
    Program("hands-over-a-link", "def work(_):\n    p = HANDED / 'step-000000002.npz'\n    p.unlink(); p.symlink_to(C['secret'])\nbefore_message('checkpointed', work)", _ADOPTED),
    Program("hands-over-a-pipe", "def work(_):\n    p = HANDED / 'step-000000002.json'\n    p.unlink(); os.mkfifo(p)\nbefore_message('checkpointed', work)", _ADOPTED),
    Program("hands-over-a-folder", "def work(_):\n    p = HANDED / 'step-000000002.json'\n    p.unlink(); p.mkdir()\nbefore_message('checkpointed', work)", _ADOPTED),
    Program("hands-over-too-much", "def work(_):\n    with open(HANDED / 'step-000000002.npz', 'ab') as s: s.truncate(8 << 20)\nbefore_message('checkpointed', work)", _ADOPTED),
    Program("hands-over-nothing", "before_message('checkpointed', lambda _: (HANDED / 'step-000000002.npz').unlink())", _ADOPTED),
    Program("hands-over-other-weights", "def work(_):\n    import shutil\n    for e in ('json', 'npz'): shutil.copyfile(HANDED / f'step-000000002.{e}', 'x')\n    p = HANDED / 'step-000000002.npz'; d = bytearray(p.read_bytes()); d[-200:-192] = b'tampered'; p.write_bytes(d)\nbefore_message('checkpointed', work)", _ADOPTED),
)  # fmt: skip

_ENDINGS = (
    Program("ends-well-at-once", "os._exit(0)", "the worker ended with status 0 after step 1"),
    Program("ends-in-the-middle", "os._exit(9)", "the worker ended with status 9 after step 1"),
    Program("closes-everything", "os.closerange(0, 256)", "after step 1"),
)  # fmt: skip

PROGRAMS = (
    *_FILES, *_ENVIRONMENT, *_NETWORK, *_KERNEL, *_SIGNALS, *_GREED, *_LEFTOVERS, *_OUTPUT,
    *_HANDED, *_ENDINGS,
)  # fmt: skip
