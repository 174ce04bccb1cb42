"""Architectures of transformers over pictures."""

from architectures import Architecture

TEXT = dict(
    vocab_size=99,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=48,
    max_position_embeddings=64,
)
PICTURE = dict(
    hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=32, patch_size=8
)
BACKBONE = dict(
    model_type="resnet",
    embedding_size=8,
    hidden_sizes=[8, 16, 24, 32],
    depths=[1, 1, 1, 1],
    layer_type="basic",
    out_features=["stage2", "stage3", "stage4"],
)


def model(kind, family, inputs, head="AutoModel", suffix="", **options):
    """inputs(torch) makes the input tensors; `vary` names axes; a backbone among the options is a dictionary."""
    vary = options.pop("vary", None)

    def build():
        import torch
        import transformers

        settings = dict(options)
        for key in (
            "backbone_config",
            "vision_config",
            "text_config",
            "qformer_config",
            "encoder",
            "decoder",
            "audio_config",
        ):
            if isinstance(settings.get(key), dict) and "model_type" in settings[key]:
                part = dict(settings[key])
                settings[key] = transformers.AutoConfig.for_model(part.pop("model_type"), **part)
        config = transformers.AutoConfig.for_model(kind, **settings)
        factory = getattr(transformers, head)
        network = factory.from_config(config) if head.startswith("Auto") else factory(config)
        network.config.use_cache = False
        return network, inputs(torch)

    return Architecture("hf_" + kind.replace("-", "_") + suffix, family, build, vary or {})


def pixels(size, count=1):
    return lambda torch: {"pixel_values": torch.randn(count, 3, size, size)}


def wave(count):
    return lambda torch: {"input_values": torch.randn(1, count)}


BATCH = {"pixel_values": {0: ("batch", 3)}}


head = "AutoModelForImageClassification"
CLASSIFIERS_ALIKE = [
    model(kind, "classification", pixels(32), "AutoModel", vary=BATCH, **PICTURE)
    for kind in "vit deit dinov2 vit_msn ijepa vit_mae dinov3_vit".split()
]
stages = dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1])
swin = dict(image_size=32, patch_size=2, embed_dim=8, depths=[1, 2], num_heads=[2, 2], window_size=4)
CLASSIFIERS = CLASSIFIERS_ALIKE + [
    model("beit", "classification", pixels(32), vary=BATCH, **PICTURE, use_relative_position_bias=True),
    model("data2vec-vision", "classification", pixels(32), vary=BATCH, **PICTURE),
    model("vit", "classification", pixels(32), head, "_head", vary=BATCH, **PICTURE, num_labels=5),
    model("swin", "classification", pixels(32), head, vary=BATCH, **swin),
    model("swinv2", "classification", pixels(32), head, vary=BATCH, **swin),
    model(
        "resnet", "classification", pixels(64), head, vary=BATCH, embedding_size=8, layer_type="bottleneck", **stages
    ),
    model("regnet", "classification", pixels(64), head, vary=BATCH, embedding_size=8, groups_width=8, **stages),
    model("convnext", "classification", pixels(64), head, vary=BATCH, **stages),
    model("convnextv2", "classification", pixels(64), head, vary=BATCH, **stages),
    model(
        "bit",
        "classification",
        pixels(64),
        head,
        vary=BATCH,
        embedding_size=8,
        num_groups=4,
        layer_type="preactivation",
        **stages
    ),
    model("poolformer", "classification", pixels(64), head, vary=BATCH, **stages),
    model(
        "focalnet",
        "classification",
        pixels(32),
        head,
        vary=BATCH,
        image_size=32,
        embed_dim=8,
        depths=[1, 1],
        focal_levels=[1, 1],
        focal_windows=[3, 3],
        hidden_sizes=[8, 16],
    ),
    model(
        "cvt",
        "classification",
        pixels(64),
        head,
        vary=BATCH,
        embed_dim=[16, 32, 48],
        num_heads=[1, 2, 3],
        depth=[1, 1, 1],
    ),
    model(
        "pvt",
        "classification",
        pixels(64),
        head,
        vary=BATCH,
        image_size=64,
        hidden_sizes=[16, 32, 40, 64],
        depths=[1, 1, 1, 1],
        num_attention_heads=[1, 2, 5, 8],
    ),
    model(
        "pvt_v2",
        "classification",
        pixels(64),
        head,
        vary=BATCH,
        image_size=64,
        hidden_sizes=[16, 32, 40, 64],
        depths=[1, 1, 1, 1],
        num_attention_heads=[1, 2, 5, 8],
    ),
    model(
        "levit",
        "classification",
        pixels(64),
        head,
        vary=BATCH,
        image_size=64,
        hidden_sizes=[16, 32, 48],
        num_attention_heads=[2, 2, 2],
        depths=[1, 1, 1],
        key_dim=[8, 8, 8],
    ),
    model("mobilenet_v1", "classification", pixels(64), head, vary=BATCH, depth_multiplier=0.25),
    model("mobilenet_v2", "classification", pixels(64), head, vary=BATCH, depth_multiplier=0.35),
    model(
        "mobilevit",
        "classification",
        pixels(64),
        head,
        vary=BATCH,
        image_size=64,
        hidden_sizes=[16, 24, 32],
        neck_hidden_sizes=[8, 8, 16, 16, 24, 32, 32],
    ),
    model("mobilevitv2", "classification", pixels(64), head, vary=BATCH, image_size=64, width_multiplier=0.5),
    model(
        "efficientnet",
        "classification",
        pixels(64),
        head,
        vary=BATCH,
        width_coefficient=0.5,
        depth_coefficient=0.5,
        hidden_dim=640,
        image_size=64,
    ),
    model(
        "swiftformer",
        "classification",
        pixels(64),
        head,
        vary=BATCH,
        depths=[1, 1, 1, 1],
        embed_dims=[16, 24, 32, 48],
    ),
    model(
        "hiera",
        "classification",
        pixels(64),
        head,
        vary=BATCH,
        image_size=[64, 64],
        embed_dim=16,
        depths=[1, 1, 2, 1],
        num_heads=[1, 2, 4, 8],
    ),
    model(
        "segformer",
        "classification",
        pixels(64),
        head,
        vary=BATCH,
        hidden_sizes=[8, 16, 24, 32],
        depths=[1, 1, 1, 1],
        num_attention_heads=[1, 2, 2, 4],
    ),
    model("textnet", "classification", pixels(64), head, vary=BATCH),
]


# Segmentation, depth, detection, restoration.
swin = dict(
    model_type="swin",
    image_size=64,
    patch_size=4,
    embed_dim=8,
    depths=[1, 1, 1, 1],
    num_heads=[1, 2, 2, 4],
    window_size=4,
    out_features=["stage1", "stage2", "stage3", "stage4"],
)
detr = dict(
    backbone_config=BACKBONE,
    d_model=32,
    encoder_layers=1,
    decoder_layers=1,
    encoder_attention_heads=4,
    decoder_attention_heads=4,
    encoder_ffn_dim=48,
    decoder_ffn_dim=48,
    num_queries=8,
    use_timm_backbone=False,
    use_pretrained_backbone=False,
    backbone=None,
    num_labels=4,
)
deformable = dict(detr, num_feature_levels=3, decoder_n_points=2, encoder_n_points=2)
detection = "AutoModelForObjectDetection"
DENSE = [
    model(
        "segformer",
        "segmentation",
        pixels(64),
        "AutoModelForSemanticSegmentation",
        "_seg",
        vary=BATCH,
        hidden_sizes=[8, 16, 24, 32],
        depths=[1, 1, 1, 1],
        num_attention_heads=[1, 2, 2, 4],
        decoder_hidden_size=16,
    ),
    model(
        "mobilevit",
        "segmentation",
        pixels(64),
        "AutoModelForSemanticSegmentation",
        "_seg",
        vary=BATCH,
        image_size=64,
        hidden_sizes=[16, 24, 32],
        neck_hidden_sizes=[8, 8, 16, 16, 24, 32, 32],
    ),
    model(
        "upernet",
        "segmentation",
        pixels(64),
        "UperNetForSemanticSegmentation",
        vary=BATCH,
        backbone_config=dict(BACKBONE, out_features=["stage1", "stage2", "stage3", "stage4"]),
        hidden_size=16,
        auxiliary_in_channels=24,
        num_labels=4,
    ),
    model(
        "beit",
        "segmentation",
        pixels(32),
        "AutoModelForSemanticSegmentation",
        "_seg",
        vary=BATCH,
        **dict(PICTURE, num_hidden_layers=4),
        out_indices=[1, 2, 3, 4],
        num_labels=4
    ),
    model(
        "dpt",
        "depth",
        pixels(32),
        "AutoModelForDepthEstimation",
        vary=BATCH,
        **{**PICTURE, "num_hidden_layers": 4},
        backbone_out_indices=[0, 1, 2, 3],
        neck_hidden_sizes=[8, 8, 16, 16],
        fusion_hidden_size=16,
        is_hybrid=False
    ),
    model(
        "glpn",
        "depth",
        pixels(64),
        "AutoModelForDepthEstimation",
        vary=BATCH,
        hidden_sizes=[8, 16, 24, 32],
        depths=[1, 1, 1, 1],
        num_attention_heads=[1, 2, 2, 4],
        decoder_hidden_size=16,
    ),
    model(
        "depth_anything",
        "depth",
        pixels(56),
        "AutoModelForDepthEstimation",
        vary=BATCH,
        backbone_config=dict(
            model_type="dinov2",
            hidden_size=32,
            num_hidden_layers=4,
            num_attention_heads=4,
            image_size=56,
            patch_size=14,
            out_features=["stage1", "stage2", "stage3", "stage4"],
            apply_layernorm=True,
            reshape_hidden_states=False,
        ),
        reassemble_hidden_size=32,
        neck_hidden_sizes=[8, 8, 16, 16],
        fusion_hidden_size=16,
        patch_size=14,
    ),
    model(
        "maskformer",
        "segmentation",
        pixels(64),
        "MaskFormerForInstanceSegmentation",
        vary=BATCH,
        backbone_config=swin,
        fpn_feature_size=32,
        mask_feature_size=32,
    ),
    model(
        "mask2former",
        "segmentation",
        pixels(64),
        "Mask2FormerForUniversalSegmentation",
        vary=BATCH,
        backbone_config=swin,
        feature_size=32,
        mask_feature_size=16,
        hidden_dim=32,
        encoder_feedforward_dim=48,
        dim_feedforward=48,
        encoder_layers=1,
        decoder_layers=2,
        num_attention_heads=4,
        num_queries=8,
    ),
    model(
        "swin2sr",
        "restoration",
        pixels(16),
        "Swin2SRForImageSuperResolution",
        vary=BATCH,
        image_size=16,
        embed_dim=16,
        depths=[2, 2],
        num_heads=[2, 2],
        window_size=4,
        upscale=2,
    ),
    model("detr", "detection", pixels(64), detection, vary=BATCH, **detr),
    model("conditional_detr", "detection", pixels(64), detection, vary=BATCH, **detr),
    model("deformable_detr", "detection", pixels(64), detection, vary=BATCH, **deformable),
    model("table-transformer", "detection", pixels(64), detection, vary=BATCH, **detr),
    model(
        "rt_detr",
        "detection",
        pixels(64),
        detection,
        vary=BATCH,
        backbone_config=dict(
            model_type="rt_detr_resnet",
            embedding_size=8,
            hidden_sizes=[8, 16, 24, 32],
            depths=[1, 1, 1, 1],
            layer_type="basic",
            out_features=["stage2", "stage3", "stage4"],
        ),
        encoder_hidden_dim=32,
        encoder_in_channels=[16, 24, 32],
        encoder_ffn_dim=48,
        d_model=32,
        num_queries=8,
        decoder_in_channels=[32, 32, 32],
        decoder_ffn_dim=48,
        decoder_layers=2,
        decoder_attention_heads=4,
        encoder_attention_heads=4,
        num_denoising=0,
        num_labels=4,
    ),
    model(
        "yolos",
        "detection",
        pixels(32),
        detection,
        vary=BATCH,
        **dict(PICTURE, image_size=[32, 32]),
        num_detection_tokens=5,
        num_labels=4
    ),
    model(
        "vitmatte",
        "segmentation",
        lambda torch: {"pixel_values": torch.randn(1, 4, 32, 32)},
        "VitMatteForImageMatting",
        backbone_config=dict(
            model_type="vitdet",
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=32,
            patch_size=16,
            num_channels=4,
            out_features=["stage2"],
        ),
        hidden_size=32,
        fusion_hidden_sizes=[16, 8, 8, 8],
        convstream_hidden_sizes=[8, 8, 8],
    ),
    model(
        "superpoint",
        "detection",
        pixels(64),
        "SuperPointForKeypointDetection",
        encoder_hidden_sizes=[8, 8, 16, 16],
        decoder_hidden_size=16,
        descriptor_decoder_dim=16,
        keypoint_decoder_dim=65,
    ),
]


def architectures():
    return CLASSIFIERS + DENSE
