"""One-node models for a version of an operator and an element type."""
import copy
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .values import ELEMENTS, convert, element_of, split, type_proto

SCALAR = np.array(True)
MAPS = ("CastMap", "DictVectorizer")
# Attributes whose number is the element type of an output.
TYPE_ATTRIBUTES = ("to", "dtype", "output_datatype", "output_dtype", "stash_type")


# Operators whose type parameters have one element type, in tensors, sequences and optionals.
LINKED = {"ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceInsert", "SequenceErase", "SplitToSequence",
          "Optional", "OptionalGetElement", "BitCast"}  # fmt: skip


def holding(kind):
    return "seq" in kind


class CannotBuild(Exception):
    """The template does not fit the version of the operator."""


def graph_of(name, inputs, outputs, nodes):
    info = lambda names: [onnx.ValueInfoProto(name=n) for n in names]
    return helper.make_graph(nodes, name, info(inputs), info(outputs))


def control_flow(schema, value):
    """(node, values) of If, Loop and Scan over one value."""
    copied = lambda a, b: helper.make_node("Identity", [a], [b])
    if schema.name == "If":
        branches = {key: graph_of(key, [], [key], [copied("x", key)]) for key in ("then_branch", "else_branch")}
        return helper.make_node("If", ["c"], ["y"], **branches), {"c": SCALAR, "x": value}
    if schema.name == "Loop":
        body = graph_of("body", ["i", "c", "v"], ["d", "w"], [copied("c", "d"), copied("v", "w")])
        return helper.make_node("Loop", ["n", "c", "x"], ["y"], body=body), {
            "n": np.int64(2), "c": SCALAR, "x": value}
    body = graph_of("body", ["v"], ["w"], [copied("v", "w")])
    if schema.since_version < 9:
        node = helper.make_node("Scan", ["", "x"], ["y"], body=body, num_scan_inputs=1)
        return node, {"x": np.asarray(value)[None]}
    return helper.make_node("Scan", ["x"], ["y"], body=body, num_scan_inputs=1), {"x": value}


def of_map(case):
    """As `build`, for the operators whose input is a map: it comes as two lists."""
    name = case.schema.name
    maps = sorted(next(c for c in case.schema.type_constraints if c.type_param_str == "T1").allowed_type_strs)
    wanted = case.kind if name != "CastMap" or case.key == "T1" else "tensor(float)"
    own = next(kind for kind in maps if kind == wanted or split(wanted)[1] == kind.split(", ")[1][:-1])
    key, value = re.fullmatch(r"map\((\w+), (\w+)\)", own).groups()
    result = case.kind if case.key == "T2" else f"tensor({value})" if name != "CastMap" else "tensor(float)"
    names = {"string": "string_vocabulary", "int64": "int64_vocabulary"}
    attributes = {names[key]: ["b", "a"] if key == "string" else [3, 1]} if name != "CastMap" else {}
    if name == "CastMap":
        attributes["cast_to"] = "TO_" + split(result)[1].upper()
    keys = np.array(["a", "c"], object) if key == "string" else np.int64([1, 5])
    proto = onnx.TypeProto()
    proto.map_type.key_type = ELEMENTS[key][0]
    proto.map_type.value_type.tensor_type.elem_type = ELEMENTS[value][0]
    node = helper.make_node(name, ["x"], ["y"], domain=case.schema.domain, **attributes)
    port = onnx.ValueInfoProto
    graph = helper.make_graph([node], "one", [port(name="x", type=proto)], [port(name="y")])
    opsets = [helper.make_opsetid("", 28), helper.make_opsetid(case.schema.domain, case.opset)]
    feed = {"x.keys": keys, "x.values": convert(np.float32([2, 1]), value)}
    return helper.make_model(graph, opset_imports=opsets), feed, {"y": result}


def formals(schema, given):
    """The formal parameter of each of a node's inputs or outputs."""
    parameters = list(schema.inputs if given == "inputs" else schema.outputs)
    while True:
        for parameter in parameters:
            yield parameter
        if not parameters or parameters[-1].option != onnx.defs.OpSchema.FormalParameterOption.Variadic:
            return
        parameters = parameters[-1:]


def to_attribute(node, schema, name, value):
    """An older version may take as an attribute what is an input now; and anything else it has no use for goes."""
    name = next((key for key in schema.attributes if key.lower() == name.lower()), name)
    attribute = schema.attributes.get(name)
    if attribute is None:
        return
    numbers = np.asarray(value).ravel().tolist()
    many = attribute.type in (onnx.AttributeProto.INTS, onnx.AttributeProto.FLOATS)
    whole = attribute.type in (onnx.AttributeProto.INTS, onnx.AttributeProto.INT)
    numbers = [int(n) if whole else float(n) for n in numbers]
    node.attribute.append(helper.make_attribute(name, numbers if many else numbers[0], attr_type=attribute.type))


def adapt(template, schema, newest):
    """The template's node and values in the form of another version of the operator."""
    node, values = copy.deepcopy(template.node), dict(template.values)
    kept = [a for a in node.attribute if a.name in schema.attributes]
    dropped = {a.name for a in node.attribute} - {a.name for a in kept}
    del node.attribute[:]
    node.attribute.extend(kept)
    own, own_names = formals(schema, "inputs"), {parameter.name for parameter in schema.inputs}
    attributes = {key.lower() for key in schema.attributes}
    names = []
    for actual, parameter in zip(list(node.input), formals(newest, "inputs")):
        if not actual and parameter.name not in own_names:
            continue
        mine = next(own, None)
        # Parameters change their names between versions, an operand that became one is where none was.
        if mine is None or (actual and parameter.name.lower() in attributes):
            if actual:
                to_attribute(node, schema, parameter.name, values.pop(actual))
            continue
        names.append(actual)
    del node.input[:]
    node.input.extend(names)
    if len(node.output) > schema.max_output:
        del node.output[schema.max_output :]
    present = {a.name for a in node.attribute}
    missing = [k for k, a in schema.attributes.items() if a.required and k not in present]
    guesses = {"shape": [2, 3], "mode": "nearest", "scales": [1.0, 1.0, 2.0, 2.0]}
    guesses |= {"height_scale": 2.0, "width_scale": 2.0}
    for key in missing:
        if guesses.get(key) is None:
            raise CannotBuild(f"no value for the attribute {key}; {sorted(dropped)} dropped")
        node.attribute.append(helper.make_attribute(key, guesses[key]))
    if len(node.input) < schema.min_input:
        raise CannotBuild("too few inputs")
    return node, values


def set_type_attribute(node, schema, element):
    key = next((k for k in TYPE_ATTRIBUTES if k in schema.attributes), None)
    if key is None:
        return False
    kept = [a for a in node.attribute if a.name != key]
    del node.attribute[:]
    node.attribute.extend(kept)
    node.attribute.append(helper.make_attribute(key, ELEMENTS[element][0]))
    return True


def bind_types(node, values, schema, wanted):
    """Gives each type parameter of the schema a type: those of `wanted`, else the template's or the first allowed.
    Returns the kinds of inputs by name and the parameters' types."""
    allowed = {c.type_param_str: list(c.allowed_type_strs) for c in schema.type_constraints}
    bound = dict(wanted)
    for key, kind in wanted.items():
        if schema.name in LINKED:
            for other, choices in allowed.items():
                element = f"tensor({split(kind)[1]})"
                # "tensor" itself, or what holds it: seq(...), optional(...), optional(seq(...)).
                same = [c for c in choices if element in c]
                plain = min(same, key=lambda c: (holding(c) != holding(kind), len(c)), default=None)
                if other not in bound and plain:
                    bound[other] = plain
    kinds = {}
    for actual, parameter in zip(node.input, formals(schema, "inputs")):
        if not actual:
            continue
        kind = parameter.type_str
        if kind in allowed:
            value = values[actual]
            own = f"seq(tensor({element_of(value)}))" if isinstance(value, list) else f"tensor({element_of(value)})"
            is_variadic = not parameter.is_homogeneous
            if schema.name.endswith("Like") and parameter.type_str == "T1":
                set_type_attribute(node, schema, "float")
            if kind not in bound:
                bound[kind] = own if own in allowed[kind] else allowed[kind][0]
            kind = bound[kind] if not is_variadic or kind in wanted else own
        kinds[actual] = kind
    return kinds, bound


def as_kind(value, kind):
    """A value of the kind that a schema names, such as seq(tensor(int8))."""
    holder, element = split(kind)
    if not element:
        raise CannotBuild(f"no value of {kind}")
    if isinstance(value, list) and not holder.endswith("seq"):
        value = value[0]
    if not isinstance(value, list) and holder.endswith("seq"):
        value = [value]
    return convert(value, element), holder.startswith("optional")


@dataclass(frozen=True)
class Case:
    """A version of an operator, the newest one, a type parameter and its type, and the opset to import."""

    schema: Any
    newest: Any
    key: str
    kind: str
    opset: int

    def with_kind(self, kind):
        return replace(self, kind=kind)

    def allowed(self):
        return next(c.allowed_type_strs for c in self.schema.type_constraints if c.type_param_str == self.key)


def build(template, case):
    """(model, values to feed, expected type by output) of a case. Raises CannotBuild."""
    schema, newest, wanted, opset = case.schema, case.newest, {case.key: case.kind}, case.opset
    base = np.float32([[1, 2], [0, -1]])
    if schema.name in MAPS:
        return of_map(case)
    if schema.name in ("If", "Loop", "Scan"):
        value, optional = as_kind(base, wanted.get("V", "tensor(float)"))
        node, values = control_flow(schema, value)
        optional = {"x"} if optional else set()
        return assemble(case, node, values, optional, {"y": wanted.get("V", "")})
    node, values = adapt(template, schema, newest)
    kinds, bound = bind_types(node, values, schema, wanted)
    optional = set()
    for name, kind in kinds.items():
        values[name], is_optional = as_kind(values[name], kind)
        if is_optional:
            optional.add(name)
    expected = {}
    for name, parameter in zip(node.output, formals(schema, "outputs")):
        if name:
            expected[name] = bound.get(parameter.type_str, parameter.type_str)
    inputs = {parameter.type_str for parameter in schema.inputs}
    if schema.name == "BitCast":
        set_type_attribute(node, schema, split(next(iter(wanted.values())))[1])
        return assemble(case, node, values, optional, expected)
    for key, kind in wanted.items():
        if key in inputs:
            continue
        element = split(kind)[1]
        if schema.name in ("Constant", "ConstantOfShape"):
            value = convert(base if schema.name == "Constant" else base.ravel()[:1], element)
            set_value(node, value)
        elif schema.name == "SequenceEmpty" or set_type_attribute(node, schema, element):
            set_type_attribute(node, schema, element)
        elif expected and not any(kind == found for found in expected.values()):
            raise CannotBuild(f"nothing chooses {kind} for {key}")
    return assemble(case, node, values, optional, expected)


def set_value(node, value):
    del node.attribute[:]
    element = ELEMENTS[element_of(value)]
    flat = [text.encode() for text in value.ravel()] if value.dtype == object else None
    tensor = helper.make_tensor("value", element[0], value.shape, flat) if flat else numpy_helper.from_array(value)
    node.attribute.append(helper.make_attribute("value", tensor))


def assemble(case, node, values, optional, expected):
    """The model around the node: optional operands are made of plain ones before, results are opened behind."""
    schema, opset = case.schema, case.opset
    nodes, ports = [], []
    for name, value in values.items():
        ports.append(onnx.ValueInfoProto(name=name, type=type_proto(value)))
        if name in optional:
            ports[-1].name = f"{name}_plain"
            nodes.append(helper.make_node("Optional", [f"{name}_plain"], [name]))
    feed = {f"{name}_plain" if name in optional else name: value for name, value in values.items()}
    nodes.append(node)
    results, kinds = [], {}
    for name in node.output:
        if not name:
            continue
        kind = expected.get(name, "")
        results.append(name)
        if kind.startswith("optional"):
            nodes.append(helper.make_node("OptionalGetElement", [name], [f"{name}_plain"]))
            results[-1] = f"{name}_plain"
        kinds[results[-1]] = kind
    graph = helper.make_graph(nodes, "one", ports, [onnx.ValueInfoProto(name=name) for name in results])
    opsets = [helper.make_opsetid(schema.domain, opset)]
    if schema.domain or optional:
        opsets = [helper.make_opsetid("", 28)] + [o for o in opsets if o.domain]
        if not schema.domain:
            opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets), feed, kinds


__all__ = ["MAPS", "CannotBuild", "Case", "build"]
