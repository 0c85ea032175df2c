"""terminal.py COMMAND...: run a command on a terminal of its own.

What it writes there, on either stream, goes to stdout, line ends as they were
before the terminal made CR LF of them. What comes on stdin is typed. The exit
code is the command's, as a shell tells it.
"""
import os
import pty
import select
import sys


def read(fd):
    try:
        return os.read(fd, 65536)
    except OSError:  # how Linux says that the other end was closed
        return b""


def main():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    output = b""
    sources = [terminal, 0]
    while terminal in sources:
        for source in select.select(sources, [], [])[0]:
            piece = read(source)
            if not piece:
                sources.remove(source)
            elif source == terminal:
                output += piece
            else:
                os.write(terminal, piece)
    sys.stdout.buffer.write(output.replace(b"\r\n", b"\n"))
    sys.stdout.flush()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.exit(code if code >= 0 else 128 - code)


main()
