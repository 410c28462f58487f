"""Checks of the documentation's code blocks by language; .ci/pages runs them. Each check returns what is wrong, or nothing."""

import ast
import configparser
import json
import re
import shutil
import subprocess
import tempfile
import textwrap
from pathlib import Path

try:
    import yaml
except ImportError:
    raise SystemExit("pages: python3-yaml is missing: ./install-dependencies --checks") from None

ROOT = Path(__file__).resolve().parent.parent


def run(*command, **options):
    """What a command printed if it failed, else nothing."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    return result.stdout.strip() or f"{command[0]}: exit status {result.returncode}" if result.returncode else ""


def shell(body, _folder):
    """The syntax alone, of what is not run."""
    return run("bash", "-n", input=body)


def json_block(body, _folder):
    """One value, or one on each line."""
    try:
        json.loads(body)
    except ValueError as whole:
        try:
            for line in body.splitlines():
                json.loads(line)
        except ValueError:
            return str(whole)
    return ""


def yaml_block(body, _folder):
    try:
        yaml.safe_load(body)
    except yaml.YAMLError as error:
        return str(error)
    return ""


def directives():
    """The directives that systemd knows, by section; none without systemd."""
    program = shutil.which("systemd", path="/usr/lib/systemd:/lib/systemd")
    if not program:
        return {}
    known, section = {}, None
    for line in subprocess.run([program, "--dump-configuration-items"], capture_output=True, text=True).stdout.splitlines():
        if line.startswith("["):
            section = known.setdefault(line.strip("[]"), set())
        elif "=" in line and section is not None:
            section.add(line.split("=")[0])
    return known


def ini_block(body, _folder):
    """A systemd unit, or a part of one."""
    parser = configparser.ConfigParser(interpolation=None, strict=True, delimiters=("=",))
    parser.optionxform = str
    try:
        parser.read_string(body)
    except configparser.Error as error:
        return str(error)
    known = directives()
    for section in parser.sections():
        unknown = set(parser[section]) - known.get(section, set(parser[section]))
        if unknown:
            return f"[{section}] has no {', '.join(sorted(unknown))}"
    return "" if parser.sections() else "no section"


def js_block(body, _folder):
    """The body of a function, as Node-RED takes it."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "block.js"
        path.write_text(f"async function block(node, msg, context) {{\n{body}}}\n")
        return run("node", "--check", path)


def json5_block(body, folder):
    """A configuration. That a program is not installed here is only a warning."""
    (folder / "block.json5").write_text(body)
    return run(".build/release/beckon", "config", "check", "block.json5", cwd=folder)


def swift_block(body, folder):
    """A program's main.swift, against the library; or a package's manifest beside the clone, which is resolved."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        package = Path(name)
        if "import PackageDescription" in body:
            (package / "Sources/App").mkdir(parents=True)
            (package / "Sources/App/main.swift").write_text("import Beckon\n")
            (package / "Package.swift").write_text(body)
            return run("swift", "package", "--package-path", str(package), "show-dependencies")
        (package / "main.swift").write_text(body)
        # Those of targets in C are made by the build.
        paths = [*sorted((ROOT / "Sources").rglob("module.modulemap")), *sorted((ROOT / ".build/debug").glob("C*.build/module.modulemap"))]
        maps = [f"-fmodule-map-file={path}" for path in paths]
        return run(
            "swiftc", "-typecheck", "-warnings-as-errors", "-swift-version", "6", "-I", str(ROOT / ".build/debug/Modules"),
            *(part for one in maps for part in ("-Xcc", one)), str(package / "main.swift"),
        )  # fmt: skip


def prepare_swift():
    """Builds the library, which `make test` has built already; returns what is wrong."""
    return run("swift", "build", "--target", "Beckon", cwd=ROOT)


def c_block(body, _folder):
    """A program in C, against the library's header."""
    return run(
        "clang", "-x", "c", "-std=c99", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", str(ROOT / "Sources/CLibraries/CBeckon"), "-",
        input=body,
    )  # fmt: skip


def python_block(body, _folder):
    """The syntax, and that the package has what is used of it."""
    try:
        tree = ast.parse(body)
    except SyntaxError as error:
        return str(error)
    exports = re.search(r"__all__ = \[(.*?)\]", (ROOT / "python/beckon/__init__.py").read_text(), re.DOTALL)[1]
    known = set(re.findall(r'"(\w+)"', exports))
    used = {
        node.attr for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "beckon"
    }  # fmt: skip
    return f"beckon has no {', '.join(sorted(used - known))}" if used - known else ""


CHECKS = {
    "c": c_block, "ini": ini_block, "js": js_block, "json": json_block, "json5": json5_block, "python": python_block, "swift": swift_block,
    "yaml": yaml_block,
}  # fmt: skip

# A block of each language that its check must reject, so that no check is one in name alone.
WRONG = {
    "c": "#include <beckon.h>\nint main(void) { return beckon_opens(0); }\n",
    "ini": "[Service]\nIPAdressAllow=192.168.1.20\n",
    "js": "return (1;\n",
    "json": '{"word": "left"\n',
    "json5": "{ treshold: 0.5 }\n",
    "python": "import beckon\nbeckon.Spoter()\n",
    "swift": "import Beckon\nlet spotter = try Spotter(folder: 1)\n",
    "yaml": "triggers: [\n",
}

# A block may stand in a list, indented.
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def blocks(text):
    """Yields (line, language, what stands between it and the block before, body) of each fenced block."""
    end = 0
    for match in re.finditer(BLOCK, text):
        yield text.count("\n", 0, match.start()) + 1, match[2], text[end : match.start()].strip(), textwrap.dedent(match[3])
        end = match.end()


def without_blocks(text):
    return re.sub(BLOCK, "", text)


def hidden_blocks(text):
    """Lines that begin a block which `blocks` does not see."""
    return [line for line in without_blocks(text).splitlines() if re.match(r"\s*(```|~~~)", line)]


def comments(path):
    """Yields (line, body) of the code in a Swift file's documentation comments: what is indented by four more spaces."""
    lines, body = path.read_text().splitlines(), []
    for number, line in enumerate([*lines, ""], 1):
        text = re.match(r"^\s*///(?: {5}(.*)|\s*$)", line)
        if text and (text[1] is not None or body):
            body.append(text[1] or "")
        elif body:
            yield number - len(body), "\n".join(body).rstrip() + "\n"
            body = []
