"""The table of Mica beside its peers: the same networks, the same inputs, the same processors, in one interleaved run.

    install    virtual environments for the peers and for what makes the networks
    nets/      the networks: definitions, calibration to unit variance, export
    convert    each peer's own file from the ONNX file
    adapters/  one file for each peer: load a file, run it, tell version and answers
    worker     the process that a peer lives in; protocol: how it is talked to
    rounds     interleaving; figures: statistics over rounds, what counts as settled, agreeing or missed
    report     table, JSON, chart and page
    layers     bench/layers: random layers of layer_kinds, one by one
"""
