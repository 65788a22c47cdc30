"""Compares numbers and verdicts in the documents with the files in results/ that they come from.

    numbers_test.py ROOT

A number or a verdict with a comment right after it is checked:

    -0.342<!-- bnn log_likelihood ours: data=compas; sampler=DMALA -->
    agrees<!-- bnn log_likelihood verdict: data=compas; sampler=DMALA -->
    51<!-- bnn count agrees -->

The comment has the folder, the quantity, a field of the row (ours, paper, spread, verdict, or an entry of its
setting) and enough of the setting to name one row; or the folder, `count`, a verdict, and perhaps some of the
setting. Numbers are compared to their last printed digit; with " %" they are parts of a hundred. Every row of a
table that has a column "rerun" must have a command there."""

import glob
import json
import os
import re
import sys

VERDICTS = ["agrees", "differs", "cannot hold", "undecided", "not published"]
CLAIM = re.compile(r"(?P<shown>-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?: %)?|" + "|".join(VERDICTS) + r")"
                   r"<!-- (?P<folder>\S+) (?P<quantity>\S+) (?P<field>[\w ]+?)(?:: (?P<setting>[^>]*?))? -->")
COMMENT = re.compile(r"<!-- \S+ \S+ [\w ]+?(?:: [^>]*?)? -->")


def same(shown, value):
    """Whether `value` is what is printed, to its last digit."""
    if isinstance(value, str) or value is None:
        return shown == value
    if shown.endswith(" %"):
        shown, value = shown[:-2], 100 * value
    shown = shown.replace(",", "")
    mantissa, _, power = shown.partition("e")
    unit = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
    return abs(float(shown) - value) <= 0.5 * unit * (1 + 1e-6)


def fits(row, setting):
    wanted = dict(part.strip().split("=", 1) for part in setting.split(";")) if setting else {}
    return all(str(row["setting"].get(key)) == value for key, value in wanted.items())


def fault(claim, rows):
    """What is wrong with a claim, or None."""
    if claim["quantity"] == "count":
        found = sum(row["verdict"] == claim["field"] and fits(row, claim["setting"]) for row in rows)
        return None if same(claim["shown"], found) else f"there are {found}"
    found = [row for row in rows if row["quantity"] == claim["quantity"] and fits(row, claim["setting"])]
    if len(found) != 1:
        return f"{len(found)} rows have this quantity and setting"
    value = {**found[0]["setting"], **found[0]}.get(claim["field"])
    return None if same(claim["shown"], value) else f"the file has {value}"


def check_the_check():
    rows = [{"quantity": "x", "setting": {"a": 1, "s": "DULA, batch 10"}, "ours": -0.34156, "verdict": "agrees"},
            {"quantity": "x", "setting": {"a": 2}, "ours": 0.539, "verdict": "differs"}]

    def faults(text):
        return [fault(claim, rows) for claim in CLAIM.finditer(text)]
    assert faults("-0.3416<!-- f x ours: a=1 -->, 53.9 %<!-- f x ours: a=2 -->") == [None, None]
    assert faults("agrees<!-- f x verdict: s=DULA, batch 10 -->; 1<!-- f count differs -->") == [None, None]
    for wrong in ("-0.3417<!-- f x ours: a=1 -->", "differs<!-- f x verdict: a=1 -->", "2<!-- f count agrees -->",
                  "-0.34<!-- f y ours: a=1 -->", "1<!-- f x ours -->"):
        assert faults(wrong)[0], wrong


def without_command(text):
    """Rows of tables with a column "rerun" that have no command there."""
    column, missing = None, []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.strip().startswith("|") else []
        if not cells:
            column = None
        elif column is None:
            column = cells.index("rerun") if "rerun" in cells else -1
        elif column >= 0 and not set(line) <= set("|-: ") and "`saltus" not in cells[column]:
            missing.append(line)
    return missing


def main(root):
    check_the_check()
    assert without_command("| a | rerun |\n|---|---|\n| 1 | `saltus x` |\n| 2 | |\n") == ["| 2 | |"]
    read, wrong, checked = {}, [], 0
    for file in sorted(glob.glob(os.path.join(root, "docs", "*.md"))):
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
        name = os.path.relpath(file, root)
        for claim in CLAIM.finditer(text):
            folder = claim["folder"]
            if folder not in read:
                with open(os.path.join(root, "results", folder, "results.json"), encoding="utf-8") as stream:
                    read[folder] = json.load(stream)["rows"]
            problem = fault(claim, read[folder])
            checked += 1
            if problem:
                wrong.append(f"{name}: '{claim[0]}': {problem}")
        loose = len(COMMENT.findall(text)) - len(CLAIM.findall(text))
        if loose:
            wrong.append(f"{name}: {loose} comments follow neither a number nor a verdict")
        wrong += [f"{name}: no command to rerun: {line}" for line in without_command(text)]
    if wrong:
        sys.exit("\n".join(wrong))
    assert checked > 50, checked
    print(f"{checked} numbers and verdicts")


if __name__ == "__main__":
    main(*sys.argv[1:])
