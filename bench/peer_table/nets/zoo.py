"""Networks that torchvision and timm define, by the table's names: name → (maker, shape of the input)."""
import timm
import torchvision.models as tv


def picture(side):
    return {"image": (1, 3, side, side)}


MAKERS = {
    "mobilenet_v1": (lambda: timm.create_model("mobilenetv1_100"), picture(224)),
    "mobilenet_v2": (tv.mobilenet_v2, picture(224)),
    "mobilenet_v3_large": (tv.mobilenet_v3_large, picture(224)),
    "mobilenet_v4_small": (lambda: timm.create_model("mobilenetv4_conv_small"), picture(224)),
    "efficientnet_lite0": (lambda: timm.create_model("efficientnet_lite0"), picture(224)),
    "shufflenet_v2": (tv.shufflenet_v2_x1_0, picture(224)),
    "squeezenet1_1": (tv.squeezenet1_1, picture(224)),
    "resnet18": (tv.resnet18, picture(224)),
    "resnet50": (tv.resnet50, picture(224)),
    "repvgg_a0": (lambda: repvgg(), picture(224)),
    "googlenet": (lambda: tv.googlenet(init_weights=False, aux_logits=False), picture(224)),
    "inception_v3": (lambda: tv.inception_v3(init_weights=False, aux_logits=False), picture(299)),
    "densenet121": (tv.densenet121, picture(224)),
    "vgg16": (lambda: tv.vgg16(init_weights=False), picture(224)),
    "vit_tiny": (lambda: timm.create_model("vit_tiny_patch16_224"), picture(224)),
    "convnext_atto": (lambda: timm.create_model("convnext_atto"), picture(224)),
    "mobilevit_xs": (lambda: timm.create_model("mobilevit_xs"), picture(256)),
}


def repvgg():
    """In the form in which it is deployed: one 3x3 convolution for each block."""
    from timm.utils.model import reparameterize_model
    return reparameterize_model(timm.create_model("repvgg_a0").eval())
