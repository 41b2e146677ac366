# SPDX-License-Identifier: MIT OR Apache-2.0
# The shell on a terminal: editing, history, search, completion, Ctrl-C; tables cut to its width.
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
cat >type.py <<'END'
import os, pty, re, select, struct, sys, fcntl, termios, time
env = dict(os.environ, TERM="xterm", HOME=os.getcwd())
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    os.execve(env["TACHO"], ["tacho", "query", "small.tacho"] + sys.argv[1:], env)
seen = b""
def read(until, seconds=20):
    """Reads until the text appears that is the last thing on the screen."""
    global seen
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if seen.endswith(until):
            return True
        if select.select([fd], [], [], 0.1)[0]:
            try:
                data = os.read(fd, 4096)
            except OSError:
                return until == b""
            if not data:
                return until == b""
            seen += data
    print("no", until, "in", seen[-200:])
    return False
# A prompt behind a new line: one that is only drawn again has the old one in front of it.
PROMPT = b"\n\rtacho> \x1b[K\r\x1b[7C"
def answers(text):
    """What came back, without the line being edited."""
    text = re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", text)
    lines = [line.split(b"\r")[-1] or (line.split(b"\r")[-2:] + [b""])[0] for line in text.split(b"\n")]
    lines = [re.sub(rb"in [0-9.]+ [nmu]?s", b"in TIME", line).decode() for line in lines]
    lines = [re.sub(r".*\^C", "", line) for line in lines]
    return [line for line in lines if line.strip() and not re.match(r"tacho> |    \.\.\.> ", line)]
for keys in sys.stdin.read().split("\n"):
    if not keys:
        continue
    read(PROMPT)
    seen = b""
    for part in keys.split("[wait]"):
        os.write(fd, part.encode().decode("unicode_escape").encode("latin-1"))
        time.sleep(1 if part != keys else 0)
    if "\\x04" not in keys:
        read(PROMPT)
    else:
        read(b"", 20)
    for line in answers(seen.replace(PROMPT, b"")):
        print(line)
print("exit", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
python3 type.py <<'END'
SELECT 1 AS one;\r
SELECTX\x7f 22 AS two;\x01\x0b\x08SELECT 3 AS three;\r
\x1b[A\x1b[A\r
SELECT 4 AS sx\x1b[Di\x1b[1~\x1b[3~S\x1b[4~ junk\x17;\r
\x12thr\r
SELECT coun\t * ) AS n FROM tra\t;\x15SELECT s.start_n\t FROM steps s LIMIT 1;\r
.sch\ttracks\r
SELECT missing;\r
SELECT 'not finished\x03
SELECT 5\r AS five\r;\r
WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT 1 FROM a WHERE x < 0;\r[wait]\x03
SELECT name, category, process, start_ns, printf('%.*c', 80, 'x') AS wide FROM spans LIMIT 1;\r
\x04
END
stat -c '%a %n' .local/state/tacho/query_history
cat .local/state/tacho/query_history
printf '\\x1b[A\\r\n.quit\\r\\x04\n' | python3 type.py
