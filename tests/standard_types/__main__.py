"""python -m standard_types: every operator of ONNX's default domain and of ai.onnx.ml, in every version of opsets 6 to
28, with every element type that its definition allows: a model of one node is built, imported and run, the results have
the types that the definition names, and numbers agree with the same model's in a wide type.

What is left out stands in left_out.txt, each with its reason; a line that no longer fails is a failure. The last line
is `N passed, N failed, N skipped`.
"""
import argparse
import collections
import fnmatch
import json
import os
import sys
from pathlib import Path

import numpy as np
import onnx

import mica

from .models import MAPS, CannotBuild, Case, build
from .templates import all_templates
from .values import ELEMENTS, FLOATS, INTEGERS, element_of, limits, split

LOWEST, HIGHEST = 6, 28
LEFT_OUT = Path(__file__).with_name("left_out.txt")
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
# Results that need not agree between types: bits of a number, its length, the seed's dropout.
TYPE_MATTERS = {"BitCast", "Cast", "CastLike", "Constant", "ConstantOfShape", "BitShift", "BitwiseNot", "Dropout",
                "LabelEncoder"}


def versions(domain):
    """(schema, opset to import) of every version of every operator that some opset of the range has."""
    by_name = collections.defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == domain:
            by_name[schema.name].append(schema)
    low, high = (LOWEST, HIGHEST) if not domain else (1, 1 << 20)
    for name in sorted(by_name):
        schemas = sorted(by_name[name], key=lambda s: s.since_version)
        for at, schema in enumerate(schemas):
            until = schemas[at + 1].since_version - 1 if at + 1 < len(schemas) else high
            if not schema.deprecated and until >= low and schema.since_version <= high:
                yield schema, max(schema.since_version, low)


def run(model, feed):
    return mica.load(model.SerializeToString(), context=mica.Context(1)).run(feed)


def same(got, wide, element):
    """Whether numbers of type `element` are the wide type's, rounded."""
    if isinstance(got, list):
        return len(got) == len(wide) and all(same(a, b, element) for a, b in zip(got, wide))
    got, wide = np.asarray(got), np.asarray(wide)
    if got.shape != wide.shape:
        return False
    if element in INTEGERS:
        low, high = limits(element)
        a, b = got.astype(np.int64), wide.astype(np.int64)
        turn = high - low + 1 if high < 2**32 else 1  # the wide types have 64 bits at most
        return bool(np.all((a == b) | ((a - b) % int(turn) == 0) & (turn > 1)))
    if element not in FLOATS or element_of(wide) not in FLOATS:
        return bool(np.array_equal(got, wide))
    a, b = got.astype(np.float64), wide.astype(np.float64)
    import ml_dtypes

    epsilon = float(ml_dtypes.finfo(ELEMENTS[element][1]).eps)
    # Operands are the same; each result rounds, as do the few that it is made of.
    finite = np.isfinite(b)
    room = np.where(finite, 16 * epsilon * (np.abs(b) + np.max(np.abs(b[finite]), initial=0)), 0)
    with np.errstate(invalid="ignore"):
        return bool(np.all((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= room)))


def kind_of(value):
    element = element_of(value)
    return f"seq(tensor({element}))" if isinstance(value, list) else f"tensor({element})"


class Checker:
    def __init__(self, templates):
        self.templates, self.bases = templates, {}

    def wide(self, template, case, feed):
        """The results of the same numbers in a wide type; None when the definition has none."""
        element = split(case.kind)[1]
        choice = ("int64", "int32", "float") if element in INTEGERS else ("double", "float")
        for wide in choice if element in INTEGERS + FLOATS and element != "double" else ():
            other = case.kind.replace(f"({element})", f"({wide})")
            if wide == element or other not in case.allowed():
                continue
            model, own, _ = build(template, case.with_kind(other))
            for name, value in own.items():
                if element_of(value) == wide and element_of(feed[name]) == element:
                    cast = lambda x: np.asarray(x).astype(ELEMENTS[wide][1])
                    own[name] = [cast(x) for x in feed[name]] if isinstance(value, list) else cast(feed[name])
            return run(model, own)
        return None

    def one(self, template, case):
        schema, kind = case.schema, case.kind
        model, feed, kinds = build(template, case)
        results = run(model, feed)
        for name, result in results.items():
            expected = kinds.get(name, "")
            while expected.startswith("optional("):
                expected = expected[len("optional(") : -1]
            empty = isinstance(result, list) and not result
            if split(expected)[1] and not empty and kind_of(result) != expected:
                return f"`{name}` is {kind_of(result)}, expected {expected}"
        if schema.name in RANDOM | TYPE_MATTERS:
            return ""
        element = split(kind)[1]
        if element.startswith("complex"):
            return self.complex_problem(template, case, results)
        wide = self.wide(template, case, feed)
        for name, result in results.items():
            if wide is not None and kinds.get(name) == kind and not same(result, wide[name], split(kind)[1]):
                return f"`{name}` has other numbers than in a wide type"
        return ""

    def complex_problem(self, template, case, results):
        """Parts of complex numbers are moved and added as numbers are."""
        kind, other = case.kind, case.kind.replace("complex64", "float").replace("complex128", "double")
        if other not in case.allowed():
            return ""
        _, feed, kinds = build(template, case)
        for part in (np.real, np.imag):
            model, own, _ = build(template, case.with_kind(other))
            for name, value in feed.items():
                if "complex" in element_of(value):
                    cast = lambda x: part(x).astype(ELEMENTS[split(other)[1]][1])
                    own[name] = [cast(x) for x in value] if isinstance(value, list) else cast(value)
            for name, expected in run(model, own).items():
                got = results[name]
                if kinds.get(name) != kind:
                    continue
                pairs = zip(got, expected) if isinstance(got, list) else [(got, expected)]
                if not all(np.allclose(part(a), b, rtol=1e-5, atol=1e-6, equal_nan=True) for a, b in pairs):
                    return f"`{name}` has other {part.__name__} parts than real numbers"
        return ""

    def check(self, case):
        """Empty when some template shows the operator at work, else why none does."""
        schema, problem = case.schema, "there is no template"
        for template in self.templates.get((schema.domain, schema.name), [])[:64] or [None]:
            try:
                if template is None and schema.name not in ("If", "Loop", "Scan", *MAPS):
                    break
                problem = self.one(template, case)
            except CannotBuild as cannot:
                problem = f"cannot build: {cannot}" if problem == "there is no template" else problem
                continue
            except (mica.Error, MemoryError, ValueError) as error:
                problem = f"{type(error).__name__} {error}".replace("\n", " ")
            if not problem:
                return ""
        return problem


def read_left_out():
    rows = [line.partition("#") for line in LEFT_OUT.read_text().splitlines()] if LEFT_OUT.exists() else []
    return [(pattern.strip(), reason.strip()) for pattern, _, reason in rows if pattern.strip()]


def report(found):
    """Prints what fails, and what is left out and does not. Returns the sum."""
    rows, passed, failed, skipped = read_left_out(), 0, 0, 0
    used = collections.Counter()
    for name, problem in found.items():
        row = next((pattern for pattern, _ in rows if fnmatch.fnmatchcase(name, pattern)), None)
        if problem and row:
            skipped += 1
            used[row] += 1
        elif problem:
            failed += 1
            print(f"FAILED {name}: {problem[:300]}")
        else:
            passed += 1
    for pattern, _ in rows:
        if not used[pattern] and any(fnmatch.fnmatchcase(name, pattern) for name in found):
            failed += 1
            print(f"FAILED {pattern}: is left out, but works")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed


def in_a_process(work):
    """What `work` returns, and whether the process that it ran in died of it: a crash is one operator's failure."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as out:
            work(lambda name, problem: print(json.dumps([name, problem]), file=out, flush=True))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        rows = [json.loads(line) for line in lines]
    return dict(rows), os.waitpid(child, 0)[1] != 0


def check_schema(checker, schema, opset):
    """Problems by the name of what was checked."""
    newest = onnx.defs.get_schema(schema.name, HIGHEST if not schema.domain else 1 << 20, schema.domain)
    wanted = {}
    for constraint in schema.type_constraints:
        for kind in sorted(constraint.allowed_type_strs):
            key = constraint.type_param_str
            wanted[f"{schema.name}-{schema.since_version} {key} {kind}"] = Case(schema, newest, key, kind, opset)

    def work(tell):
        for name, case in wanted.items():
            if name not in found:
                tell(name, checker.check(case))

    found = {}
    while len(found) < len(wanted):
        more, died = in_a_process(work)
        found.update(more)
        if died:
            found[next(name for name in wanted if name not in found)] = "the process died"
        elif not more:
            break
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="*", help="operators, as a pattern")
    options = parser.parse_args()
    checker, found = Checker(all_templates()), {}
    for domain in ("", "ai.onnx.ml"):
        for schema, opset in versions(domain):
            if not fnmatch.fnmatchcase(schema.name, options.only):
                continue
            found.update(check_schema(checker, schema, opset))
    return 1 if report(found) else 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
