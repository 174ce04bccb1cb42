"""The standard networks of the table: random weights, calibrated so that every product's result has unit variance."""
import hashlib
import json
from pathlib import Path

# In the order of the table. Pictures are 1 x 3 x side x side.
NAMES = ("mobilenet_v1", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v4_small", "efficientnet_lite0",
         "shufflenet_v2", "squeezenet1_1", "resnet18", "resnet50", "repvgg_a0", "googlenet", "inception_v3",
         "densenet121", "vgg16", "vit_tiny", "convnext_atto", "mobilevit_xs", "ultraface", "yolo_tiny", "yolox_nano",
         "unet", "super_resolution", "style_transfer", "bert_small", "lstm", "speech_conv1d")


def maker():
    """A digest of the sources that make the networks."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def is_made(folder, name):
    """Whether the network is there: one of NAMES by these sources, rather than by older ones."""
    about = Path(folder) / f"{name}.json"
    return about.exists() and (name not in NAMES or json.loads(about.read_text()).get("maker") == maker())


def forget(folder, name):
    """Removes a network and what peers' converters made of it."""
    for file in Path(folder).glob(f"{name}.*"):
        file.unlink()
