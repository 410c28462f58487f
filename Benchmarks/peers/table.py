"""The benchmark's results as Markdown and as JSON."""

import platform
from pathlib import Path

import numpy as np


# Names of the instruction sets that matter here, and Linux's flags for them.
X86 = {
    "AVX2": "avx2",
    "AVX-512": "avx512f",
    "AVX-512 VNNI": "avx512_vnni",
    "AVX-VNNI": "avx_vnni",
    "AMX int8": "amx_int8",
}
ARM = {"NEON": "asimd", "dot product": "asimddp", "int8 matrices": "i8mm"}


def machine():
    lines = [line.partition(":") for line in Path("/proc/cpuinfo").read_text().splitlines()]
    facts = {key.strip(): value.strip() for key, _, value in reversed(lines)}
    flags = facts.get("flags", facts.get("Features", "")).split()
    known = X86 if platform.machine() == "x86_64" else ARM
    sets = [name if flag in flags else f"no {name}" for name, flag in known.items()]
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    policy = governor.read_text().strip() if governor.exists() else "unknown"
    model = facts.get("model name", platform.machine())
    kind = f"family {facts.get('cpu family', '?')}, model {facts.get('model', '?')}"
    return f"{model} ({kind}; {', '.join(sets)}), governor {policy}"


def bases(entrants, precision):
    """The entrants that the others are compared with: Beckon in this precision, or in f32 if it has no other."""
    own = [entrant for entrant in entrants if entrant.name.startswith("Beckon")]
    return [entrant for entrant in own if entrant.precision == precision] or [
        entrant for entrant in own if not entrant.hop
    ][:1]


def rows(entrants, precision):
    """The header and a row for each entrant of this precision."""
    against = bases(entrants, precision)
    shown = against + [e for e in entrants if e.precision == precision and e not in against]
    header = ["", "µs", "p10–p90", "empty call, µs", "largest difference"]
    header += ["same answer"] if precision == "int8" else []
    yield header + [f"× {base.name.replace('Beckon ', '')}" for base in against]
    for entrant in shown:
        low, high = entrant.spread
        name = entrant.name + (f", {entrant.setting}" if entrant.setting else "")
        row = [name, f"{entrant.microseconds:.1f}", f"{low:.1f}–{high:.1f}"]
        row += [f"{entrant.call:.1f}" if entrant.call else "", f"{entrant.difference:.1e}"]
        row += [f"{entrant.agreement:.1f} %"] if precision == "int8" else []
        yield row + [comparison(entrant, base) for base in against]


def comparison(entrant, base):
    less = (entrant.microseconds - entrant.call) / base.microseconds
    return f"{entrant.ratio(base):.2f}" + (f" ({less:.2f})" if entrant.call else "")


def markdown(lines):
    """A table with its columns aligned."""
    lines = list(lines)
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]])
    return "\n".join("| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines)


def record(entrant):
    """An entrant's figures for the JSON file."""
    return {
        "name": entrant.name,
        "setting": entrant.setting,
        "precision": entrant.precision,
        "hop": entrant.hop,
        "median_us": entrant.microseconds,
        "p10_us": entrant.spread[0],
        "p90_us": entrant.spread[1],
        "empty_call_us": entrant.call,
        "largest_difference": float(entrant.difference),
        "same_answer_percent": float(entrant.agreement),
        "round_medians_us": (np.array(entrant.medians) / 1000).round(3).tolist(),
    }
