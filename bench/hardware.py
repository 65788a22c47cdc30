"""What a result says of the machine that it was measured on."""

import platform


def processor():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.processor()
