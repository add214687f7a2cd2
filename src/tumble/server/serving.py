"""The socket, the address with its QR code, and the end."""

from __future__ import annotations

import contextlib
import errno
import io
import socket
from collections.abc import Callable
from pathlib import Path

import segno
import uvicorn

from tumble.errors import InputError
from tumble.server.app import make_app
from tumble.server.guard import LOOPBACK
from tumble.studies.errors import PortTaken

SHORTEST_TOKEN = 12
NO_ADDRESS = (errno.EADDRNOTAVAIL, errno.EINVAL)  # the last: an IPv6 address of one interface only
SILENCE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 20, "TCP_KEEPCNT": 3}  # seconds, seconds, and how often
END = 3  # seconds for requests in hand when the server ends


class NoToken(InputError):
    """Another host needs a token."""


def check_token(host: str, token: str | None) -> str | None:
    """The token, where it may serve.

    Raises
    ------
    NoToken
        If others could reach the study without one, or it is too short to be one.
    """
    if token is None and host in LOOPBACK:
        return None
    if not token:
        raise NoToken(f"on {host} everyone in the network could change the study, so it needs a token")
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise NoToken(
            f"a token must be at least {SHORTEST_TOKEN} printable ASCII characters without spaces, so that "
            "nobody guesses it"
        )
    return token


def serve(
    file: Path,
    host: str,
    port: int,
    token: str | None,
    ready: Callable[[str, str | None], None],
    say: Callable[[str], None] = lambda text: None,
) -> None:
    """Serve until Ctrl-C.

    Parameters
    ----------
    file
        The study file.
    host, port
        Where; port 0 for any free one.
    token
        What a request must show; None for none, on the loopback address only.
    ready
        Called with the address, and with its QR code for a terminal; with none on the loopback address, which
        no phone can open.
    say
        Called with what became of results that a killed runner had kept.
    """
    token = check_token(host, token)
    with contextlib.closing(listen(host, port)) as listening:
        app, study = make_app(file, token=token, is_loopback=host in LOOPBACK, say=say)
        address = _address(host, listening.getsockname()[1], token)
        code = None if host in LOOPBACK else qr_code(address)
        server = _Server(lambda: ready(address, code), study.watch.close, app)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


def qr_code(text: str) -> str:
    """A QR code for a terminal, two rows of dots a line."""
    out = io.StringIO()
    segno.make(text, error="l", micro=False).terminal(out, compact=True)
    return out.getvalue()


class _Server(uvicorn.Server):
    """Says when it can be reached, and ends the streams of changes as soon as it is told to stop.

    It says so from the moment on from which it hears Ctrl-C.  The streams would hold it at its end.
    """

    def __init__(self, ready: Callable[[], None], end_streams: Callable[[], None], app: object) -> None:
        super().__init__(
            uvicorn.Config(
                app,  # type: ignore[arg-type]
                log_level="error",
                access_log=False,
                server_header=False,
                ws="none",
                timeout_graceful_shutdown=END,
            )
        )
        self._ready, self._end_streams = ready, end_streams

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As the parent does, and then the address is said."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As the parent does, after the streams have ended."""
        self._end_streams()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """A socket that waits for clients.

    Raises
    ------
    PortTaken
        If another program has the port.
    InputError
        If the host is none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _let_go_of_the_dead(listening)
    try:
        listening.bind((host, port))
        listening.listen()  # from now on the port is taken
    except (OSError, TypeError, UnicodeError) as error:  # the last two: of letters that no name of a host has
        listening.close()
        why = error.strerror if isinstance(error, OSError) else "no host has such a name"
        if not isinstance(error, OSError) or isinstance(error, socket.gaierror) or error.errno in NO_ADDRESS:
            raise InputError(f"{host} is no address of this machine ({why}); 0.0.0.0 is all") from None
        raise PortTaken(port, str(why)) from None
    return listening


def _let_go_of_the_dead(listening: socket.socket) -> None:
    """End a connection whose client has gone without a word, such as a phone that left the network.

    Every connection inherits this.  Else they add up to as many as may be at once, and nobody else is let in.
    """
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in SILENCE.items():
        if hasattr(socket, name):  # macOS lacks one of them
            listening.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _address(host: str, port: int, token: str | None) -> str:
    """What a browser opens; the token stands behind #, which no browser sends and no log keeps."""
    name = _reachable(host)
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{port}/" + ("" if token is None else f"#token={token}")


def _reachable(host: str) -> str:
    """The address under which others reach this machine, where it listens on all of its addresses."""
    if host not in ("0.0.0.0", "::", ""):
        return host
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent: only the way there is looked up
        except OSError:
            return socket.gethostname()
        return str(probe.getsockname()[0])
