"""drawn.py -- run scenarios that a Writer draws, each by its number, and keep those that fail."""
import os
import shutil
import subprocess
import sys

STATUSES = {0, 1, 2, 3, 4, 5}  # of selenite help


def failure(program, script, directory, options):
    """What is wrong with the run of the script, or None; and its exit status."""
    environment = dict(os.environ, UBSAN_OPTIONS="halt_on_error=1:exitcode=86",
                       ASAN_OPTIONS="exitcode=86:detect_leaks=1", OMP_NUM_THREADS="1")
    shutil.rmtree(directory, ignore_errors=True)
    command = [program, "run", script, "-o", directory, "--backend", "cpu", "--threads", "1"]
    try:
        run = subprocess.run(command + options, capture_output=True, timeout=120, env=environment)
    except subprocess.TimeoutExpired:
        return "it takes longer than 120 s", None
    text = run.stderr.decode(errors="replace") + run.stdout.decode(errors="replace")
    reports = any(word in text for word in ("runtime error", "Sanitizer", "LEAK"))
    if run.returncode not in STATUSES or reports:
        return f"exit status {run.returncode}\n{text[-4000:]}", run.returncode
    return None, run.returncode


def main(writer, name, options, part):
    """PROGRAM DIRECTORY [COUNT [FIRST]]; at least one of `part` scenarios must run to its end."""
    program, directory = os.path.abspath(sys.argv[1]), sys.argv[2]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    os.makedirs(directory, exist_ok=True)
    statuses, failed = {}, 0
    for number in range(first, first + count):
        script = os.path.join(directory, f"{name}_{number}.lua")
        with open(script, "w") as file:
            file.write(writer(number).scenario())
        wrong, status = failure(program, script, os.path.join(directory, "out"), options)
        statuses[status] = statuses.get(status, 0) + 1
        if wrong:
            failed += 1
            print(f"{script}: {wrong}", flush=True)
        else:
            os.remove(script)
    print(f"{count} scenarios; by exit status: "
          + ", ".join(f"{status}: {n}" for status, n in sorted(statuses.items(), key=str)))
    # Mistakes alone would test little.
    if statuses.get(0, 0) < count // part:
        print("too few of them run")
        failed += 1
    sys.exit(1 if failed else 0)
