"""Architectures written here: kinds of networks that the three libraries do not hold, of torch's own layers."""

from architectures import Architecture, batch


def simple(name, family, vary=None):
    """A class of blocks.py and the inputs that it names itself."""

    def build():
        import blocks

        module = getattr(blocks, name)()
        return module, module.example()

    return Architecture(
        "own_" + "".join("_" + c.lower() if c.isupper() else c for c in name).strip("_"), family, build, vary or {}
    )


def architectures():
    length = {"x": {0: ("batch", 2), 1: ("length", 2)}}
    picture = {"x": {0: ("batch", 2), 2: ("height", 2), 3: ("width", 2)}}
    return [
        simple("DiffusionUnet", "diffusion", batch("x")),
        simple("StateSpace", "state-space", batch("x")),
        simple("Recurrent", "recurrent", length),
        simple("GatedRecurrent", "recurrent", length),
        simple("StackedTransformer", "encoder-decoder", {"x": length["x"], "y": {0: ("batch", 2), 1: ("steps", 2)}}),
        simple("WaveNet", "sound", {"x": {0: ("batch", 2), 2: ("samples", 2)}}),
        simple("SuperResolution", "restoration", picture),
        simple("SpatialTransformer", "classification", batch("x")),
        simple("SceneText", "text recognition", batch("x")),
        simple("PictureUnet", "segmentation", picture),
        simple("Generator", "generative", batch("x")),
        simple("GraphConvolution", "graph", {"x": {0: ("nodes", 2)}}),
        simple("RadianceField", "rendering", batch("x")),
        simple("AnchorDetector", "detection", batch("x")),
        simple("MaskedAutoregressive", "generative", batch("x")),
        simple("VectorQuantizer", "generative", batch("x")),
        simple("SeparatingNet", "sound", batch("x")),
        simple("PointCloud", "points", batch("x")),
        simple("Recommender", "tables", batch("x", "c")),
        simple("VolumeUnet", "segmentation", batch("x")),
        simple("TimeMixer", "series", batch("x")),
        simple("StyleGenerator", "generative", batch("x")),
        simple("Experts", "text encoder", length),
        simple("LinearAttentionNet", "text encoder", length),
        simple("Deblur", "restoration", picture),
    ]
