"""A small SMTP server on a free port of this machine: it keeps what it is handed, and can refuse or hang up."""

import socket
import threading
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import BinaryIO, cast


@dataclass
class Mailbox:
    """What arrived. ``refusing`` answers every message with a temporary error."""

    port: int = 0
    refusing: bool = False
    commands: list[str] = field(default_factory=list)
    messages: list[EmailMessage] = field(default_factory=list)

    def ids(self) -> list[str]:
        """The ids of the messages in order of arrival."""
        return [str(message["Message-ID"]) for message in self.messages]


class MailServer:
    """Speaks as much of RFC 5321 as a client needs that hands a message over."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.box = Mailbox(self.listener.getsockname()[1])
        self.thread = threading.Thread(target=self._serve, name="mail-server", daemon=True)

    def __enter__(self) -> Mailbox:
        self.thread.start()
        return self.box

    def __exit__(self, *raised: object) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            with caller, caller.makefile("rwb") as line:
                self._talk(cast(BinaryIO, line))

    def _talk(self, line: BinaryIO) -> None:
        def say(text: str) -> None:
            line.write(f"{text}\r\n".encode())
            line.flush()

        say("220 mail.test ready")
        while command := line.readline():
            text = command.decode().strip()
            self.box.commands.append(text)
            verb = text.split(" ")[0].upper()
            if verb == "DATA":
                say("354 go on")
                body = b"".join(iter(line.readline, b".\r\n"))
                if self.box.refusing:
                    say("451 try again later")
                    continue
                self.box.messages.append(message_from_bytes(body, policy=policy.default))
            say("221 bye" if verb == "QUIT" else "250 fine")
            if verb == "QUIT":
                return
