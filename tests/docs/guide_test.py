"""Runs a program that a document shows, and compares what it prints with what the document says.

    guide_test.py PROGRAM EXPECTED

The words must be the same. Numbers may differ by one in a hundred, and rounding errors (below 1e-12) by
anything: compilers differ there."""

import re
import subprocess
import sys

NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


def same_number(a, b):
    x, y = (float(text.replace(",", "")) for text in (a, b))
    return max(abs(x), abs(y)) < 1e-12 or abs(x - y) <= 0.01 * max(abs(x), abs(y))


def same(printed, expected):
    if NUMBER.sub("#", printed).split() != NUMBER.sub("#", expected).split():
        return False
    return all(same_number(a, b) for a, b in zip(NUMBER.findall(printed), NUMBER.findall(expected), strict=True))


def check_the_check():
    assert same("mean 0.414, ESS 27,313", "mean 0.415, ESS 27,300")
    assert same("defect 1.1e-16", "defect 6.7e-16")
    assert not same("mean 0.414", "mean 0.514")
    assert not same("mean 0.414", "means 0.414")


def main(program, expected):
    check_the_check()
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    with open(expected, encoding="utf-8") as file:
        shown = file.read()
    if not same(done.stdout, shown):
        sys.exit(f"{program} prints\n{done.stdout}\nbut the document shows\n{shown}")


if __name__ == "__main__":
    main(*sys.argv[1:])
