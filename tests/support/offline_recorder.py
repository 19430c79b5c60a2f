"""Run a program without a network, and record what it looks up and where it tries to connect.

`python -m tests.support.offline_recorder REPORT -- PROGRAM …` ends with the status of the program, and writes lines
such as `udp 10.0.0.1:53 example.org`. In a network namespace whose loopback interface is the way to all addresses, each
packet passes by, whoever sends it: native libraries and other processes, too. Connections to a loopback address are not
recorded, except to the port of name servers.
"""

from __future__ import annotations

import ipaddress
import shutil
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

NEW_NAMESPACES = ("unshare", "--user", "--map-root-user", "--net", "--")
SETUP = (
    "ip link set lo up",
    "ip route add local default dev lo",
    "ip -6 route add local default dev lo",
)
NAME_SERVER, TCP, UDP = 53, 6, 17
SYN_ONLY = 0x02
IPV4, IPV6 = 0x0800, 0x86DD
ALL_PROTOCOLS = 0x0003


def list_obstacles() -> str:
    """Why there can be no recorder here, empty if there can."""
    if sys.platform != "linux" or not (shutil.which("unshare") and shutil.which("ip")):
        return "unshare and ip are not installed"
    tried = subprocess.run([*NEW_NAMESPACES, "sh", "-c", " && ".join(SETUP[:2])], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "this machine permits no network namespaces"


def describe(packet: bytes) -> str:
    """What a packet on the loopback interface asks for; empty if it is no attempt to leave the machine."""
    (kind,) = struct.unpack_from("!H", packet, 12)
    body = packet[14:]
    if kind == IPV4:
        protocol, start = body[9], 4 * (body[0] & 15)
        target = ipaddress.ip_address(body[16:20])
    elif kind == IPV6:
        protocol, start = body[6], 40
        target = ipaddress.ip_address(body[24:40])
    else:
        return ""
    if protocol not in {TCP, UDP}:
        return ""
    segment = body[start:]
    (port,) = struct.unpack_from("!H", segment, 2)
    is_own = target.is_loopback and port != NAME_SERVER
    if is_own or (protocol == TCP and segment[13] & 0x3F != SYN_ONLY):
        return ""
    name = f" {read_name(segment[8:])}" if protocol == UDP and port == NAME_SERVER else ""
    return f"{'tcp' if protocol == TCP else 'udp'} {target}:{port}{name}"


def read_name(query: bytes) -> str:
    """The name in a query for a name server."""
    labels, place = [], 12
    while place < len(query) and query[place]:
        labels.append(query[place + 1 : place + 1 + query[place]].decode("ascii", "replace"))
        place += 1 + query[place]
    return ".".join(labels)


def record(listener: socket.socket, report: Path) -> None:
    with report.open("a") as file:
        while True:
            packet, address = listener.recvfrom(65535)
            if address[2] == socket.PACKET_OUTGOING and (line := describe(packet)):
                file.write(line + "\n")
                file.flush()


def record_inside(report: Path, command: list[str]) -> int:
    for each in SETUP:
        subprocess.run(each.split(), check=each is not SETUP[2])  # a machine may have no IPv6
    listener = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    listener.bind(("lo", 0))
    threading.Thread(target=record, args=(listener, report), daemon=True).start()
    code = subprocess.run(command, check=False).returncode
    listener.settimeout(0)
    return code


def run_recorded(command: list[str], report: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a program; `report` then lists what it asked for."""
    report.touch()
    inside = [sys.executable, "-m", "tests.support.offline_recorder", str(report), "--", *command]
    return subprocess.run(
        [*NEW_NAMESPACES, *inside], env=environment, capture_output=True, text=True, check=False, cwd=Path.cwd()
    )


if __name__ == "__main__":
    sys.exit(record_inside(Path(sys.argv[1]), sys.argv[3:]))
