"""links.py -- prints the links of Markdown files that lead nowhere; usage: links.py FILE.md ...

A link leads to a file, or to a heading of one; addresses in the net are not visited.
"""
import os
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)|\bsrc=\"([^\"]+)\"")
CODE = re.compile(r"^```.*?^```", re.S | re.M)


def anchors(path):
    """The headings of a file as GitHub names them in links."""
    with open(path, encoding="utf-8") as file:
        text = CODE.sub("", file.read())
    names = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)|`", r"\1", heading)
        names.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return names


def dead(path):
    """The links of a file that lead nowhere."""
    with open(path, encoding="utf-8") as file:
        text = CODE.sub("", file.read())
    for found in LINK.finditer(text):
        link = found.group(1) or found.group(2)
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.exists(target) or anchor and anchor not in anchors(target):
            yield link


if __name__ == "__main__":
    lost = [(path, link) for path in sys.argv[1:] for link in dead(path)]
    for path, link in lost:
        print(f"{path}: {link} leads nowhere")
    sys.exit(1 if lost else 0)
