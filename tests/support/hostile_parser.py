"""A parser that an attacker controls: `python -m tests.support.hostile_parser LIMITS FOLDER PORT`, in a sandbox.

It tries whatever a parser must not do, and prints what came of each attempt, by name: "done", or the name of the error.
FOLDER holds a file `secret`, a program `program` and the Unix sockets `socket` and `datagrams`; PORT is of TCP.
"""
# ruff: noqa: BLE001, PLC0415, PTH208, PTH211, T201 - it lists and imports after its rights are gone, and prints

from __future__ import annotations

import ctypes
import json
import os
import platform
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from engine.parsers.sandbox import protocol
from engine.parsers.sandbox.isolation import isolate

# Numbers of system calls on x86-64 and on arm64.
CALLS = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "io_uring_setup": (425, 425),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "userfaultfd": (323, 282),
    "memfd_create": (319, 279),
    "execveat": (322, 281),
    "mount": (165, 40),
    "umount2": (166, 39),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "clone3": (435, 435),
    "openat2": (437, 437),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "timer_create": (222, 107),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept4": (288, 242),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "recvmsg": (47, 212),
    "capset": (126, 91),
    "seccomp": (317, 277),
    "personality": (135, 92),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "reboot": (169, 142),
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    "a call of the future": (500, 500),
}
COLUMN = {"x86_64": 0, "aarch64": 1}[platform.machine()]
LIBC = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: int) -> bool:
    words = [ctypes.c_long(argument) for argument in (*arguments, 0, 0, 0, 0)[:5]]
    if LIBC.syscall(ctypes.c_long(CALLS[name][COLUMN]), *words) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return True


def outcome(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return "PermissionError" if error.errno == 38 else type(error).__name__  # 38: there is no such call
    except ValueError:  # Python's word for a limit that may not be raised
        return "PermissionError"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "done"


def send_to(kind: socket.SocketKind, address: str) -> None:
    with socket.socket(socket.AF_UNIX, kind) as pipe:
        pipe.connect(address)
        pipe.send(b"end the bot")


def send_through_pair(address: str) -> None:
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"end the bot", address)


def fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def set_owner() -> None:
    import fcntl

    fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid())


def parse() -> None:
    import chardet  # noqa: F401
    import kreuzberg  # noqa: F401
    import PIL.Image  # noqa: F401
    import pypdfium2  # noqa: F401


def list_attempts(folder: Path, port: int, parent: int) -> dict[str, Callable[[], object]]:
    secret, limit = folder / "secret", (10**13, 10**13)
    return {
        "read": secret.read_text,
        "list": lambda: os.listdir(folder),
        "write": lambda: (folder / "new").write_text("x"),
        "write to a temporary folder": lambda: Path("/tmp/threadlore-isolation").write_text("x"),
        "delete": secret.unlink,
        "rename": lambda: secret.rename(folder / "moved"),
        "link": lambda: os.link(secret, folder / "linked"),
        "symlink": lambda: os.symlink(secret, folder / "linked"),
        "make a folder": (folder / "made").mkdir,
        "make a device": lambda: os.mkfifo(folder / "pipe"),
        "change its mode": lambda: secret.chmod(0o777),
        "change its owner": lambda: os.chown(secret, os.getuid(), os.getgid()),
        "change its time": lambda: os.utime(secret),
        "set an attribute": lambda: os.setxattr(secret, "user.x", b"x"),
        "truncate it by opening it": lambda: os.open(secret, os.O_RDONLY | os.O_TRUNC),
        "read the accounts": Path("/etc/passwd").read_text,
        "read the name of the machine": Path("/etc/hostname").read_text,
        "list /etc": lambda: os.listdir("/etc"),
        "list /opt": lambda: os.listdir("/opt"),
        "list /home": lambda: os.listdir("/home"),
        "list /var": lambda: os.listdir("/var"),
        "list /usr/local": lambda: os.listdir("/usr/local"),
        "list /proc": lambda: os.listdir("/proc"),
        "list /sys": lambda: os.listdir("/sys"),
        "read the environment of the program": Path(f"/proc/{parent}/environ").read_bytes,
        "read the memory of the program": lambda: Path(f"/proc/{parent}/mem").open("rb"),
        "read the bot": (Path(__file__).parents[2] / "bot" / "__init__.py").read_text,
        "reach a port": lambda: socket.create_connection(("127.0.0.1", port), 5),
        "resolve a name": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        "speak netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
        "reach a socket": lambda: send_to(socket.SOCK_STREAM, str(folder / "socket")),
        "reach a datagram socket": lambda: send_to(socket.SOCK_DGRAM, str(folder / "datagrams")),
        "reach an abstract socket": lambda: send_to(socket.SOCK_STREAM, f"\0threadlore-test-{port}"),
        "reach a socket from a pair": lambda: send_through_pair(str(folder / "datagrams")),
        "run a program": lambda: subprocess.run([folder / "program"], check=True),
        "run a shell": lambda: os.execv("/bin/sh", ["/bin/sh", "-c", "exit 0"]),
        "signal the program": lambda: os.kill(parent, signal.SIGCONT),
        "signal all": lambda: os.kill(-1, signal.SIGCONT),
        "signal the group": lambda: os.killpg(0, signal.SIGCONT),
        "signal a thread of the program": lambda: call("rt_tgsigqueueinfo", parent, parent, 0),
        "be signalled for the program": set_owner,
        "limit the program": lambda: resource.prlimit(parent, resource.RLIMIT_NOFILE, (9, 9)),
        "slow the program down": lambda: os.setpriority(os.PRIO_PROCESS, parent, 19),
        "pin the program to a processor": lambda: os.sched_setaffinity(parent, {0}),
        "more memory": lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
        "larger files": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
        "another user": lambda: os.setuid(1),
        **{name: partial(call, name) for name in CALLS},
    }


def main() -> None:
    limits, folder, port = protocol.decode_limits(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    state = isolate(limits)
    attempts = list_attempts(folder, port, os.getppid()) | ({} if limits.ocr_program else {"fork": fork})
    outcomes = {name: outcome(attempt) for name, attempt in attempts.items()} | {"parse": outcome(parse)}
    print(json.dumps({"state": json.loads(protocol.encode_state(state)), "outcomes": outcomes}))


if __name__ == "__main__":
    main()
