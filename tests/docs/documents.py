"""documents.py -- run the blocks of documents in this folder, in order; usage: documents.py FILE.md ...

A block begins with ``` and one of these words; prints a line of TAP for each that runs:

    lua NAME      is written to the file NAME
    sh            runs in a shell, which ends at the first error
    python        runs in one interpreter together with the other blocks of its document
    gnuplot       runs if gnuplot is installed
    output        has lines that the block before printed, in this order; others may stand between them.
                  Numbers may differ by two hundredths, and "..." stands for any words
    ... only-shown  does not run
"""
import contextlib
import io
import re
import shutil
import subprocess
import sys
import traceback

FENCE = re.compile(r"^```(.*)$")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def blocks(path):
    """Yields (line, words behind the fence, text) of each block."""
    words, text, first = None, [], 0
    with open(path) as file:
        for number, line in enumerate(file, 1):
            fence = FENCE.match(line)
            if fence and words is None:
                words, text, first = fence.group(1).split() or [""], [], number
            elif fence:
                yield first, words, "".join(text)
                words = None
            elif words is not None:
                text.append(line)
    if words is not None:
        raise ValueError(f"{path}:{first}: the block has no end")


def is_alike(expected, line):
    """Whether a line is as the document has it, but for blanks, and numbers by two per cent."""
    pattern, numbers, end = "", [], 0
    expected, line = " ".join(expected.split()), " ".join(line.split())
    for found in NUMBER.finditer(expected):
        pattern += re.escape(expected[end:found.start()]) + f"({NUMBER.pattern})"
        numbers.append(float(found.group()))
        end = found.end()
    pattern = (pattern + re.escape(expected[end:])).replace(re.escape("..."), ".*")
    match = re.fullmatch(pattern, line)
    return bool(match) and all(abs(float(got) - number) <= 0.02 * abs(number)
                               for got, number in zip(match.groups(), numbers))


def missing(expected, printed):
    """The first line of the document that was not printed behind those before it, or None."""
    lines = iter(printed.splitlines())
    for line in expected.splitlines():
        if line.strip() not in ("", "...") and not any(is_alike(line, other) for other in lines):
            return line
    return None


def command(words, text):
    done = subprocess.run(words, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


def program(text, names, where):
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(text, where, "exec"), names)
        return True, printed.getvalue()
    except BaseException:
        return False, printed.getvalue() + traceback.format_exc()


def report(good, name, log):
    print(("ok " if good else "not ok ") + name)
    if not good:
        print("".join(f"# {line}\n" for line in log.splitlines()[-40:]), end="")
    return good


def run(path):
    """Runs the blocks of one document; whether all was as it says."""
    document = path.rsplit("/", 1)[-1]
    names, printed, good = {}, "", True
    for line, words, text in blocks(path):
        name = f"- {document}:{line}: {words[0]}"
        if words[0] == "lua" and len(words) == 2:
            with open(words[1], "w") as file:
                file.write(text)
        elif "only-shown" in words:
            continue
        elif words[0] == "sh":
            done, printed = command(["sh", "-eux"], text)
            good &= report(done, name + " " + text.splitlines()[0], printed)
        elif words[0] == "python":
            done, printed = program(text, names, f"{document}:{line}")
            good &= report(done, name, printed)
        elif words[0] == "gnuplot" and not shutil.which("gnuplot"):
            print(f"ok {name} # SKIP gnuplot is not installed")
        elif words[0] == "gnuplot":
            done, printed = command(["gnuplot"], "set terminal dumb\n" + text)
            good &= report(done and "warning" not in printed, name, printed)
        elif words[0] == "output":
            lost = missing(text, printed)
            good &= report(lost is None, name, f"not printed: {lost}\nbut:\n{printed}")
        else:
            good &= report(False, name, f"what is this block for? {' '.join(words)}")
    return good


if __name__ == "__main__":
    results = [run(path) for path in sys.argv[1:]]
    sys.exit(0 if results and all(results) else 1)
