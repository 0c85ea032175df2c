"""terminal.py COMMAND...: run a command on a terminal of its own.

What it writes there, on either stream, goes to stdout, line ends as they were
before the terminal made CR LF of them; its exit code is this program's.
"""
import os
import pty
import sys


def main():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    output = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other end was closed
            break
        if not piece:
            break
        output += piece
    sys.stdout.buffer.write(output.replace(b"\r\n", b"\n"))
    sys.stdout.flush()
    _, status = os.waitpid(pid, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


main()
