"""Architectures of torchvision.models."""

from architectures import Architecture, batch


def picture(name, family, size=64, **options):
    """A network from one picture to a table of outputs."""

    def build():
        import torch
        import torchvision

        options.setdefault("weights", None)
        model = torchvision.models.get_model(name, **options)
        return model, {"x": torch.randn(1, 3, size, size)}

    return Architecture("tv_" + name, family, build, batch("x"))


def thin(name, size, make):
    """A classifier whose stock widths are too large: make(torchvision.models) builds a smaller one of the same kind."""

    def build():
        import torch
        import torchvision

        return make(torchvision.models), {"x": torch.randn(1, 3, size, size)}

    return Architecture("tv_" + name, "classification", build, batch("x"))


def vgg(models):
    layers = models.vgg.make_layers([16, "M", 32, "M", 48, 48, "M", 64, "M", 64, "M"], batch_norm=True)
    model = models.VGG(layers, num_classes=10)
    return shrink_classifier(model, 64 * 49)


def alexnet(models):
    return shrink_classifier(models.AlexNet(num_classes=10), 256 * 36)


def shrink_classifier(model, features):
    from torch import nn

    model.classifier = nn.Sequential(nn.Dropout(), nn.Linear(features, 32), nn.ReLU(), nn.Linear(32, 10))
    return model


def resnet(models, block, **options):
    return models.ResNet(getattr(models.resnet, block), [1, 1, 1, 1], num_classes=10, **options)


def detector(name, size=96, **options):
    """A detector: its post-processing (top-k, non-maximum suppression, thresholds) is part of the network."""

    def build():
        import torch
        import torchvision

        options.setdefault("weights", None)
        options.setdefault("weights_backbone", None)
        model = torchvision.models.get_model(name, **options)
        return model, {"x": torch.rand(1, 3, size, size)}

    return Architecture("tv_" + name, "detection", build)


def flow(name):
    def build():
        import torch
        import torchvision

        model = torchvision.models.get_model(name, weights=None)
        return model, {
            "image1": torch.rand(1, 3, 128, 128),
            "image2": torch.rand(1, 3, 128, 128),
            "num_flow_updates": 2,
        }

    return Architecture("tv_" + name, "optical flow", build)


def video(name, frames, size, **options):
    def build():
        import torch
        import torchvision

        model = torchvision.models.get_model(name, weights=None, num_classes=10, **options)
        return model, {"x": torch.randn(1, 3, frames, size, size)}

    return Architecture("tv_" + name, "video", build, batch("x"))


def architectures():
    plain = (
        "squeezenet1_0 squeezenet1_1 mobilenet_v2 mobilenet_v3_small mobilenet_v3_large shufflenet_v2_x0_5 "
        "shufflenet_v2_x1_0 mnasnet0_5 mnasnet1_0 efficientnet_b0 efficientnet_v2_s regnet_x_400mf regnet_y_400mf "
        "densenet121 resnet18 convnext_tiny swin_t swin_v2_t"
    ).split()
    found = [picture(name, "classification", num_classes=10) for name in plain]
    found += [
        picture("googlenet", "classification", num_classes=10, aux_logits=False, init_weights=False),
        picture("inception_v3", "classification", 96, num_classes=10, aux_logits=False, init_weights=False),
    ]
    found += [
        thin("vgg", 224, vgg),
        thin("alexnet", 224, alexnet),
        thin("resnet_bottleneck", 64, lambda m: resnet(m, "Bottleneck")),
        thin("resnext", 64, lambda m: resnet(m, "Bottleneck", groups=8, width_per_group=4)),
        thin("wide_resnet", 64, lambda m: resnet(m, "Bottleneck", width_per_group=128)),
        thin("resnet_dilated", 64, lambda m: resnet(m, "Bottleneck", replace_stride_with_dilation=[False, True, True])),
        thin("vit", 32, lambda m: m.VisionTransformer(32, 8, 2, 2, 32, 64, num_classes=10)),
        thin("maxvit", 64, lambda m: m.MaxVit((64, 64), 16, 2, [16, 32], [1, 1], 8, 0.0, num_classes=10)),
    ]
    for name in "fcn_resnet50 deeplabv3_mobilenet_v3_large lraspp_mobilenet_v3_large".split():
        found.append(picture(name, "segmentation", num_classes=5, weights_backbone=None))
    found += [
        detector("ssdlite320_mobilenet_v3_large", num_classes=5),
        detector("fasterrcnn_mobilenet_v3_large_320_fpn", num_classes=5),
        detector("retinanet_resnet50_fpn", num_classes=5, score_thresh=0.0),
        detector("fcos_resnet50_fpn", num_classes=5, score_thresh=0.0),
        detector("maskrcnn_resnet50_fpn", num_classes=3),
        detector("keypointrcnn_resnet50_fpn", num_classes=2),
        detector("ssd300_vgg16", num_classes=5),
    ]
    found += [flow("raft_small"), flow("raft_large")]
    found += [
        video("r3d_18", 4, 32),
        video("mc3_18", 4, 32),
        video("r2plus1d_18", 4, 32),
        video("s3d", 16, 224),
        video("mvit_v2_s", 16, 224),
        video("swin3d_t", 4, 64),
    ]
    return found
