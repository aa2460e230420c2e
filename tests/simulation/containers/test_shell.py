"""Scripts in simulated containers."""

import pytest

from aio_apiserver.simulation.containers.commands import COMMANDS
from aio_apiserver.simulation.containers.files import Files
from aio_apiserver.simulation.containers.memory import Memory
from aio_apiserver.simulation.containers.process import SimulatedProcess
from aio_apiserver.simulation.containers.process_budget import COMMAND, ProcessBudget
from aio_apiserver.simulation.containers.shell import Shell, World
from aio_apiserver.simulation.containers.steps import ERROR, Pause, Steps, Written


def _missing(name: str, _arguments: object) -> Steps:
    yield Written(f"{name}: not found\n".encode(), ERROR)
    return 127


def _world(**mounts: str) -> World:
    memory = Memory()
    files = Files(memory, {f"/{name}": text.encode() for name, text in mounts.items()})
    return World(files, ProcessBudget(COMMAND, memory), COMMANDS, _missing, lambda: 0.0, "pod-1")


def _run(*argv: str, stdin: bytes = b"", world: World | None = None) -> tuple[str, int]:
    """The output and the exit code of a program, without its pauses."""
    shell = Shell(world or _world(), {"NAME": "world"})
    process, text, sent = SimulatedProcess(shell.execute(argv), shell.budget), b"", None
    given = [stdin, b""]
    while True:
        turn = process.run_turn(sent)
        sent = given.pop(0) if turn.needs_input else None
        text += b"".join(one.data for one in turn.written)
        if turn.end is not None:
            return text.decode(), turn.end.code


def _script(script: str, stdin: bytes = b"") -> tuple[str, int]:
    return _run("sh", "-c", script, stdin=stdin)


@pytest.mark.parametrize(
    ("script", "output"),
    [
        ("echo hello $NAME", "hello world\n"),
        ("echo '$NAME' \"$NAME\" ${NAME} ${NONE:-none} ${NONE:-$NAME}", "$NAME world world none world\n"),
        ("echo -n a; echo b", "ab\n"),
        ("printf '%s-%s\\n' a b", "a-b\n"),
        ("true && echo yes || echo no", "yes\n"),
        ("false && echo yes || echo no", "no\n"),
        ("! false && echo yes", "yes\n"),
        ("echo one two | wc -w", "2\n"),
        ('x=$(echo a; echo b); echo $x; echo "$x"', "a b\na\nb\n"),
        ("for i in 1 2 3; do echo $((i * 2)); done", "2\n4\n6\n"),
        ("i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $i", "3\n"),
        ('if [ -z "$NONE" ]; then echo empty; else echo full; fi', "empty\n"),
        ("if false; then echo a; elif true; then echo b; fi", "b\n"),
        ("echo text > /root/f; cat /root/f; cat < /root/f; echo more >> /root/f; wc -l /root/f", "text\ntext\n2\n"),
        ("cat /none 2> /dev/null || echo missing", "missing\n"),
        ("(cd /root; pwd); pwd", "/root\n/\n"),
        ("{ echo a; echo b; } | tail -1", "b\n"),
        ("echo a # a comment\necho b", "a\nb\n"),
        ("sleep 100 & echo now", "now\n"),
        ("false; echo $?", "1\n"),
        ("dd if=/dev/zero of=/d/f bs=1k count=2 conv=fsync; wc -c /d/f", "2+0 records in\n2+0 records out\n2048\n"),
        ("echo abcdef | dd bs=2 skip=1 count=1 status=none", "cd"),
        ("dd if=/none || true", "dd: can't open '/none': No such file or directory\n"),
        ("dd if=/dev/urandom || true", "dd: No space left on device\n"),
        ("touch /root/a.txt /root/b.txt; ls /root/*.txt", "/root/a.txt\n/root/b.txt\n"),
        ("X=1 env | grep X", "X=1\n"),
        ("touch /d/e/a.txt /d/b; cd /d; find . -type f; find /d/e -name '*.txt'", "./b\n./e/a.txt\n/d/e/a.txt\n"),
        (
            "mkdir /d; ls -d /d; find / -type d -name d; find /none 2> /d/err || find -size 3 2> /d/err || echo no",
            "/d\n/d\nno\n",
        ),
        (
            "printf '10\n9\n9\n' > f; sort f; sort -nu f; sort -k2 f 2> /dev/null || sort -nr f",
            "10\n9\n9\n9\n10\n10\n9\n9\n",
        ),
        (
            "printf 'a\na\nb\n' | uniq -c; printf 'a\na\n' | uniq; uniq -d f 2> /dev/null || echo no",
            "      2 a\n      1 b\na\nno\n",
        ),
        ("echo a:b:c | cut -d : -f 1,3; echo abc | cut -d: -f2; cut f 2> /dev/null || echo no", "a:c\nabc\nno\n"),
        ("hostname", "pod-1\n"),
        ("echo a > /d/f; ln -s /d/f /d/g; cat /d/g; ln f 2> /d/err || cat /d/err", "a\nln: give a file and the link\n"),
        ("x=b.txt; case $x in a|c) echo 1;; (*.txt) echo 2;; *) echo 3;; esac", "2\n"),
        ('case "a b" in "a b") echo yes\n;;\nesac', "yes\n"),
        ("case x in y) echo no; esac; echo $?", "0\n"),
        ("greet() { echo hello $1 $#; return 3; echo no; }; greet you; echo $? $1", "hello you 1\n3\n"),
        ("f()\n{\n local x=$1\n shift; echo $x $1\n}\nf a b", "a b\n"),
        ("expr 7 % 4; expr -1 - 2; expr 1 - 1; echo $?", "3\n-3\n0\n1\n"),
        ("f() { (exit 4); }; f || echo $?", "4\n"),
    ],
)
def test_a_script_prints_as_in_a_shell(script: str, output: str) -> None:
    assert _script(script) == (output, 0)


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("true", 0),
        ("false", 1),
        ("exit 3; echo", 3),
        ("(exit 4)", 4),
        ("set -e; false; exit 0", 1),
        ("none", 127),
        ("f() { f; }; f", 2),
    ],
)
def test_a_script_ends_with_its_code(script: str, code: int) -> None:
    assert _script(script)[1] == code


def test_an_unreadable_script_is_refused_with_a_message() -> None:
    output, code = _script("select x in a; do :; done")

    assert output == "sh: the simulated shell does not know select\n"
    assert code == 2


def test_programs_read_standard_input_and_mounted_files() -> None:
    assert _run("cat", stdin=b"typed") == ("typed", 0)
    assert _run("cat", "/config", world=_world(config="mounted")) == ("mounted", 0)
    assert _script("read a b; echo $b", stdin=b"1 2\n") == ("2\n", 0)


def test_a_loop_without_end_gives_others_their_turn() -> None:
    steps = Shell(_world(), {}).execute(["sh", "-c", "while true; do :; done"])

    assert [steps.send(None) for _ in range(3)] == [Pause(0.0)] * 3


def test_tar_packs_and_unpacks_files() -> None:
    world = _world()
    _run("sh", "-c", "mkdir -p /a/b; echo x > /a/b/c", world=world)

    shell = Shell(world, {})
    packed = b""
    for step in shell.execute(["tar", "cf", "-", "/a"]):
        packed += step.data if isinstance(step, Written) else b""
    other = _world()

    assert _run("tar", "xmf", "-", "-C", "/root", stdin=packed, world=other) == ("", 0)
    assert _run("cat", "/root/a/b/c", world=other) == ("x\n", 0)


def test_what_a_container_writes_has_a_limit() -> None:
    output, code = _script('x=$(seq 1 400000); while true; do echo "$x" >> /root/f || exit 9; done')

    assert "No space left on device" in output
    assert code == 1
