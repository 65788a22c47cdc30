"""Compares what saltus knows of every character with Python's Unicode data: unicode_test.py HEADER WRITER"""

import re
import subprocess
import sys
import unicodedata

header, writer = sys.argv[1:]
with open(header, encoding="ascii") as file:
    version = re.search(r"from Unicode (\S+)\.\n", file.read()).group(1)
if version != unicodedata.unidata_version:
    print(f"Python has Unicode {unicodedata.unidata_version}, the tables are of {version}")
    sys.exit(77)


def expected_class(c):
    category = unicodedata.category(c)
    blank = category[0] == "Z" or c in "\t\n\r"
    removed = category[0] == "C" and not blank or c == "\uFFFD"
    symbol = c.isascii() and category[0] == "S"
    # A capital sigma is a final one behind a cased character, whatever ignorable ones are between.
    cased = (c + "Σ").lower().endswith("ς")
    ignorable = not cased and ("a" + c + "Σ").lower().endswith("ς")
    bits = [removed, blank, category[0] == "P" or symbol, category == "Mn", cased, ignorable]
    return sum(2**i for i, bit in enumerate(bits) if bit)


def without_marks(c):
    return "".join(p for p in unicodedata.normalize("NFD", c) if unicodedata.category(p) != "Mn")


def in_hex(text):
    return "".join(f" {ord(c):x}" for c in text)


lines = subprocess.run([writer], check=True, capture_output=True, text=True).stdout.splitlines()
characters = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
assert len(lines) == len(characters), len(lines)
wrong = 0
for c, line in zip(characters, lines):
    wanted = f"{ord(c):x} {expected_class(c)},{in_hex(c.lower())},{in_hex(without_marks(c))}"
    if line != wanted:
        wrong += 1
        print(f"{line} where {wanted} is expected")
print(f"{len(lines)} characters, {wrong} wrong")
sys.exit(wrong > 0)
