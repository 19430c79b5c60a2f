"""A git server over https on this machine: the program `git http-backend` behind a certificate of its own."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from tests.support.certificates import Certificate, make_certificate
from tests.support.loopback import listening

IDENTITY = ("-c", "user.name=Mina", "-c", "user.email=mina@town.example", "-c", "init.defaultBranch=main")


def run_git(folder: Path, *words: str) -> str:
    """Run git in a folder; gives what it says."""
    done = subprocess.run(["git", *IDENTITY, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@dataclass
class GitServer:
    """One repository with the working tree `work`. `authorizations`: of the requests; `required`: the only good one."""

    root: Path
    certificate: Certificate
    port: int = 0
    required: str = ""
    authorizations: list[str] = field(default_factory=list)

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}/notes.git"

    def commit(self) -> str:
        """Publish the working tree; gives the hash of the commit."""
        run_git(self.work, "add", "--all", "--force", ".")
        run_git(self.work, "commit", "--quiet", "--allow-empty", "-m", "Change the notes")
        run_git(self.work, "push", "--quiet", "--force", str(self.root / "notes.git"), "HEAD:main")
        return run_git(self.work, "rev-parse", "HEAD")

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer as a web server that runs the backend of git."""
        self.authorizations.append(request.headers.get("Authorization", ""))
        if self.required and self.authorizations[-1] != self.required:
            return web.Response(status=401, headers={"WWW-Authenticate": "Basic"})
        environment = {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": request.path,
            "QUERY_STRING": request.query_string,
            "REQUEST_METHOD": request.method,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            "HTTP_GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
            "PATH": "/usr/bin:/bin:/usr/local/bin",
        }
        process = await asyncio.create_subprocess_exec(
            *("git", "http-backend"), env=environment, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await process.communicate(await request.read())
        head, _, body = out.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        return web.Response(status=int(headers.pop("Status", "200").split()[0]), headers=headers, body=body)


@asynccontextmanager
async def open_git_server(root: Path) -> AsyncIterator[GitServer]:
    """Serve a new repository on a free port of the loopback device."""
    certificate = make_certificate(root)
    server = GitServer(root, certificate)
    server.work.mkdir(parents=True)
    run_git(server.work, "init", "--quiet")
    run_git(root, "init", "--quiet", "--bare", "notes.git")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.file, certificate.key)
    async with listening(server.handle, "localhost", context) as server.port:
        yield server
