"""Attention with projections, masks, caches, rotation."""

import numpy as np

from cases import MICROSOFT, generator


def strip(names):
    while not names[-1]:
        names.pop()
    return names


def mask_of(c, batch, length, total, *forms):
    form = c.pick("", *forms)
    if form:
        c.tolerance = 2e-3  # a row without a key to see: scores are rounded where -10000 is added to them
    if form == "lengths":
        return c.input("mask", c.ints(1, total + 1, batch, dtype=np.int32))
    if form == "ends":
        return c.input(
            "mask",
            np.concatenate([c.ints(total // 2 + 1, total + 1, batch), c.ints(0, total // 2 + 1, batch)]).astype(
                np.int32
            ),
        )
    if form == "keys":
        return c.input("mask", c.ints(0, 2, batch, total, dtype=np.int32))
    if form == "pairs":
        return c.input("mask", c.ints(0, 2, batch, length, total, dtype=np.int32))
    return ""


def bias_of(c, batch, heads, length, total):
    return c.pick("", c.input("bias", c.floats(c.pick(1, batch), c.pick(1, heads), length, total)))


def past_of(c, batch, heads, size):
    """Length and contents of one tensor with past keys and past values."""
    count = c.pick(0, 0, 3)
    return count, c.input("past", c.floats(2, batch, heads, count, size)) if count else ""


@generator("Attention", 40)
def attention(c):
    batch, length, heads, size, width = c.pick(1, 2), c.pick(1, 4), c.pick(1, 2), c.pick(4, 8), 6
    c.dynamic = c.pick(False, True)
    past, cache = past_of(c, batch, heads, size)
    of_values = size if past else c.pick(size, size + 2)
    sizes = [heads * size, heads * size, heads * of_values]
    mask = mask_of(c, batch, length, past + length, "lengths", "ends", "keys", "pairs")
    if mask and c.dynamic and c.feeds[mask].ndim == 1:
        c.dynamic = False  # which form of list it is shows in its size
    inputs = [
        c.input("x", c.floats(batch, length, width)),
        c.constant("w", c.floats(width, sum(sizes))),
        c.constant("b", c.floats(sum(sizes))),
        mask,
        cache,
        bias_of(c, batch, heads, length, past + length),
    ]
    outputs = ["y"] + (["present"] if cache or of_values == size and c.pick(0, 1) else [])
    hidden = c.pick(None, -5.0)
    c.tolerance = 2e-5 if hidden else c.tolerance
    c.node(
        "Attention",
        strip(inputs),
        outputs,
        num_heads=heads,
        unidirectional=c.pick(0, 1),
        scale=c.pick(None, 0.3),
        qkv_hidden_sizes=sizes if of_values != size else None,
        mask_filter_value=hidden,
    )
    c.output(*outputs)


@generator("QAttention", 20)
def quantized_attention(c):
    batch, length, heads, size, width = c.pick(1, 2), c.pick(1, 4), c.pick(1, 2), 8, 6
    past, cache = past_of(c, batch, heads, size)
    of_w, columns = c.pick(np.uint8, np.int8), 3 * heads * size
    per_column = c.pick(0, 1)
    shape = (columns,) if per_column else ()
    inputs = [
        c.input("x", c.ints(0, 256, batch, length, width, dtype=np.uint8)),
        c.constant("w", c.byte_weights(width, columns, dtype=of_w)),
        c.constant("b", c.floats(columns)),
        c.constant("xs", np.float32(0.01)),
        c.constant("ws", np.asarray(c.floats(*shape, low=0.005, high=0.02), np.float32)),
        mask_of(c, batch, length, past + length, "lengths", "keys"),
        c.constant("xz", np.uint8(c.rng.integers(100, 150))),
        c.constant("wz", c.ints(*((100, 150) if of_w == np.uint8 else (-10, 10)), *shape, dtype=of_w)),
        cache,
    ]
    outputs = ["y"] + (["present"] if cache else c.pick([], ["present"]))
    c.node("QAttention", strip(inputs), outputs, num_heads=heads, unidirectional=c.pick(0, 1))
    c.output(*outputs)


def unpacked(c, form, inputs, outputs, attributes):
    """The same with queries, keys and values apart."""
    c.constant("flat", np.array([0, 0, -1]))
    parts = "qkv" if form == "packed" else "kv"
    for k, part in enumerate(parts):
        c.means(
            "Gather",
            ["q" if form == "packed" else "k", c.constant(f"at_{part}", np.array(k))],
            [f"part_{part}"],
            axis=3,
        )
        c.means("Reshape", [f"part_{part}", "flat"], [f"own_{part}"])
    own = [f"own_{part}" for part in parts]
    c.means(
        "MultiHeadAttention",
        (own if form == "packed" else ["q", *own]) + inputs[3:],
        outputs,
        domain=MICROSOFT,
        **attributes,
    )


@generator("MultiHeadAttention", 50)
def multi_head(c):
    batch, length, heads, size = c.pick(1, 2), c.pick(1, 4), c.pick(1, 2), 8
    width, form, keys, past = (
        heads * size,
        c.pick("plain", "plain", "packed", "packed kv", "apart"),
        c.pick(3, length),
        0,
    )
    c.dynamic = c.pick(False, True)
    q, k, v, of_values = c.input("q", c.floats(batch, length, width)), "", "", width
    if form == "plain":
        of_values = c.pick(width, heads * 4)
        k, v = c.input("k", c.floats(batch, keys, width)), c.input("v", c.floats(batch, keys, of_values))
    elif form == "packed":
        q, keys = c.input("q", c.floats(batch, length, heads, 3, size)), length
    elif form == "packed kv":
        k = c.input("k", c.floats(batch, keys, heads, 2, size))
    else:
        k, v = c.input("k", c.floats(batch, heads, keys, size)), c.input("v", c.floats(batch, heads, keys, size))
    caches = []
    if form == "plain" and of_values == width and c.pick(0, 1):
        past = 3
        caches = [c.input("pk", c.floats(batch, heads, past, size)), c.input("pv", c.floats(batch, heads, past, size))]
    bias = c.pick("", c.constant("bias", c.floats(2 * width + of_values))) if not c.dynamic else ""
    mask = mask_of(c, batch, length, past + keys, "keys", "pairs", "lengths")
    if mask and c.feeds[mask].ndim == 1:
        c.dynamic = False
    inputs = [
        q,
        k,
        v,
        bias,
        mask,
        c.pick("", c.input("add", c.floats(c.pick(1, batch), c.pick(1, heads), length, past + keys))),
        *caches,
    ]
    outputs = ["y"] + (["pk_out", "pv_out"] if caches else c.pick([], ["pk_out", "pv_out"] if form == "plain" else []))
    attributes = dict(num_heads=heads, unidirectional=c.pick(0, 1) if keys == length else 0, scale=c.pick(None, 0.3))
    c.node("MultiHeadAttention", strip(inputs), outputs, **attributes)
    if form.startswith("packed"):
        unpacked(c, form, inputs, outputs, {k: v for k, v in attributes.items() if v is not None})
    c.output(*outputs)


def tables(c, rows, half):
    angle = np.arange(rows)[:, None] / 10.0 ** (np.arange(half) / half)[None]
    return [c.constant("cos", np.cos(angle).astype(np.float32)), c.constant("sin", np.sin(angle).astype(np.float32))]


@generator("RotaryEmbedding", 20)
def rotary(c):
    batch, length, heads, size = c.pick(1, 2), c.pick(1, 5), c.pick(1, 3), c.pick(8, 16)
    c.dynamic = False
    four, part = c.pick(0, 1), c.pick(0, 1)
    rotated = size // 2 if part else size
    x = c.input("x", c.floats(batch, heads, length, size) if four else c.floats(batch, length, heads * size))
    places = c.input("p", c.pick(c.ints(0, 5, 1), c.ints(0, 9, batch, length)))
    c.node(
        "RotaryEmbedding",
        [x, places, *tables(c, 12, rotated // 2)],
        ["y"],
        num_heads=heads if part else c.pick(None, 0),
        rotary_embedding_dim=rotated if part else None,
        interleaved=c.pick(0, 1),
    )
    c.output("y")


def meaningful(lengths, first, shape, cache):
    """Rows of the filling, and places of the cache behind the last token, have no meaning."""
    rows, kept = np.ones(shape, bool), np.ones(cache, bool)
    for b, length in enumerate(lengths):
        if first:
            rows[b, length:] = False
        kept[b, :, length:] = False
    return {"y": rows, "present_k": kept, "present_v": kept}


@generator("GroupQueryAttention", 80)
def group_query(c):
    batch, kv_heads, size = c.pick(1, 2), c.pick(1, 2), 16
    heads, kind = kv_heads * c.pick(1, 2, 3), c.pick("first", "first", "step", "step", "shared")
    length = {"first": c.pick(1, 5), "step": c.pick(1, 1, 3), "shared": c.pick(1, 4)}[kind]
    past = 0 if kind == "first" else 4
    if past and length > 1:
        batch = 1
    total, room = past + length, 0 if kind == "first" else 12 if kind == "shared" else past
    lengths = np.full(batch, total)
    if length > 1 and kind == "first" and batch > 1:
        lengths[1] -= 2  # a shorter sequence, filled up
    if kind != "first" and batch > 1:
        lengths[1] -= 1
    packed, new = c.pick(0, 1), (batch, length, kv_heads * size)
    q = c.input("q", c.floats(batch, length, (heads + 2 * kv_heads if packed else heads) * size))
    k, v = ("", "") if packed else (c.input("k", c.floats(*new)), c.input("v", c.floats(*new)))
    cache = (batch, kv_heads, room, size)
    pk, pv = (
        (c.input("pk", c.floats(*cache)), c.input("pv", c.floats(*cache)))
        if kind != "first" or c.pick(0, 1)
        else ("", "")
    )
    rotate = c.pick(0, 1, 1)
    cos, sin = tables(c, 16, size // 2) if rotate else ("", "")
    bias = c.pick("", "", c.input("add", c.floats(c.pick(1, batch), c.pick(1, heads), length, total)))
    sink = c.pick("", "", c.constant("sink", c.floats(heads)))
    inputs = [
        q,
        k,
        v,
        pk,
        pv,
        c.input("last", (lengths - 1).astype(np.int32)),
        c.either("total", np.array(total, np.int32)),
        cos,
        sin,
        "",
        bias,
        sink,
    ]
    c.node(
        "GroupQueryAttention",
        strip(inputs),
        ["y", "present_k", "present_v"],
        num_heads=heads,
        kv_num_heads=kv_heads,
        do_rotary=rotate,
        rotary_interleaved=c.pick(0, 1),
        local_window_size=c.pick(None, None, 2, 3),
        softcap=c.pick(None, None, 2.0),
        scale=c.pick(None, 0.3),
        smooth_softmax=None if sink else c.pick(None, None, 1),
    )
    c.output("y", "present_k", "present_v")
    c.mask = meaningful(
        lengths, kind == "first", (batch, length, heads * size), (batch, kv_heads, max(room, total), size)
    )
