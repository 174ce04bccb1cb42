"""The networks of bench/layers: every kind makes graphs that ONNX's checker and shape inference take."""
import random

import onnx
from peer_table import layer_kinds

SEEDS = range(6)


def networks(kind):
    return [made for made in (layer_kinds.network(random.Random(seed), kind) for seed in SEEDS) if made]


def test_every_kind_makes_valid_networks_that_keep_their_shape():
    for kind in layer_kinds.KINDS:
        made = networks(kind)
        assert made, kind
        for model, shape, words in made[:2]:
            onnx.checker.check_model(model, full_check=True)   # the result's shape is declared: inference must agree
            dims = [d.dim_value for d in model.graph.output[0].type.tensor_type.shape.dim]
            assert dims == shape, words


def test_a_seed_makes_the_same_network():
    first, again = (layer_kinds.network(random.Random(5), "conv-grouped") for _ in range(2))
    assert first[0].SerializeToString() == again[0].SerializeToString()
