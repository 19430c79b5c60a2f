"""The system calls that parsers need, by processor. What is not named here is refused.

Numbers: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# `name:x86-64:arm64`; a dash where the processor has no such call.
_READ_AND_WRITE = """
read:0:63 write:1:64 readv:19:65 writev:20:66 pread64:17:67 pwrite64:18:68 preadv:295:69 pwritev:296:70 preadv2:327:286
pwritev2:328:287 lseek:8:62 close:3:57 close_range:436:436 dup:32:23 dup2:33:- dup3:292:24 pipe:22:- pipe2:293:59
poll:7:- ppoll:271:73 select:23:- pselect6:270:72 epoll_create:213:- epoll_create1:291:20 epoll_ctl:233:21
epoll_wait:232:- epoll_pwait:281:22 epoll_pwait2:441:441 eventfd:284:- eventfd2:290:19 recvfrom:45:207
"""
_FIND_FILES = """
stat:4:- fstat:5:80 lstat:6:- newfstatat:262:79 statx:332:291 access:21:- faccessat:269:48 faccessat2:439:439
getdents64:217:61 readlink:89:- readlinkat:267:78 getcwd:79:17 statfs:137:43 fstatfs:138:44 fadvise64:221:223
"""
_MEMORY_AND_THREADS = """
mmap:9:222 mprotect:10:226 munmap:11:215 brk:12:214 mremap:25:216 mincore:27:232 madvise:28:233 mlock:149:228
munlock:150:229 membarrier:324:283 mseal:462:462 futex:202:98 futex_waitv:449:449 set_robust_list:273:99 rseq:334:293
set_tid_address:218:96 gettid:186:178 sched_yield:24:124 sched_getaffinity:204:123 sched_getparam:143:121
sched_getscheduler:145:120 sched_get_priority_max:146:125 sched_get_priority_min:147:126 getcpu:309:168 arch_prctl:158:-
"""
_SIGNALS_AND_TIME = """
rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139 rt_sigtimedwait:128:137 rt_sigpending:127:136
rt_sigsuspend:130:133 sigaltstack:131:132 pause:34:- restart_syscall:219:128 nanosleep:35:101 clock_nanosleep:230:115
clock_gettime:228:113 clock_getres:229:114 gettimeofday:96:169 time:201:- times:100:153 getrusage:98:165
"""
_OWN_PROCESS = """
getpid:39:172 getppid:110:173 getuid:102:174 geteuid:107:175 getgid:104:176 getegid:108:177 getpgrp:111:-
getpgid:121:155 getsid:124:156 getresuid:118:148 getresgid:120:150 getgroups:115:158 uname:63:160 sysinfo:99:179
getrandom:318:278 getrlimit:97:163 setrlimit:160:164 capget:125:90 exit:60:93 exit_group:231:94 wait4:61:260
waitid:247:95
"""
_FREE = _READ_AND_WRITE + _FIND_FILES + _MEMORY_AND_THREADS + _SIGNALS_AND_TIME + _OWN_PROCESS
# Allowed with some arguments only.
_CONDITIONAL = """
open:2:- openat:257:56 clone:56:220 kill:62:129 tgkill:234:131 prlimit64:302:261 fcntl:72:25 ioctl:16:29 prctl:157:167
socketpair:53:199
"""
_START_PROGRAM = "execve:59:221 fork:57:- vfork:58:-"
# Their arguments are in memory that the filter cannot see. Libraries use the older call if the kernel lacks these.
_OPAQUE = "clone3:435:435 openat2:437:437"
LAST_NUMBER = 462  # of the numbers above; libraries try newer ones, and take ENOSYS for an older kernel


@dataclass(frozen=True, slots=True)
class Processor:
    """The system calls of a processor. `audit`: its name in the kernel; `first_foreign`: from here on, other ABIs'."""

    audit: int
    free: frozenset[int]
    conditional: Mapping[str, int]
    start_program: frozenset[int]
    opaque: frozenset[int]
    set_filter: int  # the number of `seccomp`
    first_foreign: int = 0


def _numbers(table: str, column: int) -> dict[str, int]:
    rows = (row.split(":") for row in table.split())
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


def _processor(column: int, audit: int, set_filter: int, first_foreign: int = 0) -> Processor:
    return Processor(
        audit,
        frozenset(_numbers(_FREE, column).values()),
        MappingProxyType(_numbers(_CONDITIONAL, column)),
        frozenset(_numbers(_START_PROGRAM, column).values()),
        frozenset(_numbers(_OPAQUE, column).values()),
        set_filter,
        first_foreign,
    )


PROCESSORS: Mapping[str, Processor] = MappingProxyType(
    {
        "x86_64": _processor(1, 0xC000003E, 317, first_foreign=0x40000000),
        "aarch64": _processor(2, 0xC00000B7, 277),
    }
)
