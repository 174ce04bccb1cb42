"""element_types.py MICA: the element types that `mica ops` lists, beside those that the standard's definitions allow.

For every operator of ONNX's default domain and of ai.onnx.ml that comes to be one operator of Mica's, each type of each
operand that onnx.defs allows is in the list, or stands with a reason in tests/standard_types/left_out.txt (where each
is run: tests/python/test_standard_types.py). The last line is `N passed, N failed, N skipped`.
"""
import fnmatch
import json
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))
try:
    import onnx
    from standard_types.models import CannotBuild, Case, build, formals
    from standard_types.templates import all_templates
    from standard_types.values import split
except ImportError as missing:
    print(f"element_types was left out: {missing}\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)

LATEST = {"": 28, "ai.onnx.ml": 1 << 20}
SHORT = {"float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "bool", "string": "string",
         "complex64": "c64", "complex128": "c128"}  # fmt: skip


def mica_name(element):
    return SHORT.get(element) or element.replace("float", "f").replace("uint", "u").replace("int", "i")


def left_out():
    rows = (line.partition("#")[0].strip() for line in (TESTS / "standard_types/left_out.txt").read_text().splitlines())
    return [row for row in rows if row]


def operands(mica, model, folder):
    """(Mica's operator, its operand's place by the name of the model's input), or None when there are several nodes."""
    path = folder / "one.onnx"
    path.write_bytes(model.SerializeToString())
    command = [mica, "inspect", path, "--stage", "import", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None
    graph = json.loads(done.stdout)
    nodes = [i for i, node in enumerate(graph["nodes"]) if node["kind"] == "node"]
    if len(nodes) != 1:
        return None
    sources = [edge["from"] for edge in graph["edges"] if edge["to"] == nodes[0]]
    places = {graph["nodes"][source]["name"]: place for place, source in enumerate(sources)}
    return graph["nodes"][nodes[0]]["op"], places


def example(schema, templates, wanted=None):
    """A model of one node of the operator, of whatever types a template has, or of (parameter, type)."""
    for constraint in schema.type_constraints:
        for kind in sorted(constraint.allowed_type_strs, key=lambda kind: (kind != "tensor(float)", kind)):
            if wanted and wanted != (constraint.type_param_str, kind):
                continue
            case = Case(schema, schema, constraint.type_param_str, kind, min(schema.since_version, 28))
            for template in templates[:4]:
                try:
                    return build(template, case)[0]
                except (CannotBuild, StopIteration, KeyError):
                    continue
    return None


def compare(schema, model, listed, skip, is_other):
    """(types that are in the list, what is wrong). `listed`: types by the model input's name;
    `is_other(parameter, type)`: it comes to be other operators."""
    node = next(node for node in model.graph.node if node.op_type == schema.name)
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    right, wrong = 0, []
    for name, parameter in zip(node.input, formals(schema, "inputs")):
        if not listed.get(name):
            continue
        for kind in allowed.get(parameter.type_str, [parameter.type_str]):
            element, row = split(kind)[1], f"{schema.name}-{schema.since_version} {parameter.type_str} {kind}"
            if not element or any(fnmatch.fnmatchcase(row, pattern) for pattern in skip):
                continue
            if mica_name(element) in listed[name]:
                right += 1
            elif not is_other(parameter.type_str, kind):
                wrong.append(f"{row}: not in the list")
    return right, wrong


def main(mica):
    listed = json.loads(subprocess.check_output([mica, "ops", "--format", "json"]))["operators"]
    table = {op["name"]: op["types"] for op in listed}
    templates, skip = all_templates(), left_out()
    passed = failed = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for domain, latest in LATEST.items():
            names = {schema.name for schema in onnx.defs.get_all_schemas_with_history() if schema.domain == domain}
            for name in sorted(names):
                schema = onnx.defs.get_schema(name, latest, domain)
                if schema.deprecated or schema.name in ("If", "Loop", "Scan"):
                    continue
                model = example(schema, templates.get((domain, name), []))
                found = operands(mica, model, Path(folder)) if model else None
                if not found or found[0] not in table:
                    continue

                def is_other(*wanted):
                    model = example(schema, templates.get((domain, name), []), wanted)
                    other = operands(mica, model, Path(folder)) if model else found
                    return other is None or other[0] != found[0]

                compared += 1
                types = table[found[0]]
                listed = {name: types[place] for name, place in found[1].items() if place < len(types)}
                right, wrong = compare(schema, model, listed, skip, is_other)
                passed, failed = passed + right, failed + len(wrong)
                for line in wrong:
                    print(f"FAILED {line}")
    print(f"{compared} operators of the standard are one operator of Mica's each")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or compared < 100 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
