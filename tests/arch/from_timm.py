"""Architectures of timm: at least one of every module there."""

from architectures import Architecture, batch

# Models that take any picture: name, and the size where 64 does not fit.
PLAIN = """
test_byobnet test_convnext test_convnext2 test_efficientnet test_efficientnet_evos test_efficientnet_gn
test_efficientnet_ln test_mambaout test_nfnet test_resnet test_vit:160 test_vit3:160 test_vit4:160 bat_resnext26ts
botnet26t_256:256 halonet26t:256 lambda_resnet26t:256 gernet_s repvgg_a0 mobileone_s0 eca_resnext26ts resnet10t
ecaresnet26t seresnext26d_32x4d resnetblur50 resnetaa50 resnetv2_18 resnetv2_50d_gn gcresnext26ts convnext_atto
convnextv2_atto cspresnet50 cspdarknet53 darknetaa53 densenet121 densenetblur121d dla46_c dla60_res2net dpn48b
edgenext_xx_small efficientnet_b0 efficientnet_es efficientvit_b0 efficientnet_lite0 efficientnetv2_rw_t fbnetc_100
fbnetv3_b mixnet_s fastvit_t8 ghostnet_050 ghostnetv2_100 hardcorenas_a hgnetv2_b0 hrnet_w18_small inception_next_atto
inception_v3:96 inception_v4:96 inception_resnet_v2:96 lcnet_050 mambaout_femto poolformer_s12 mnasnet_small
mobilenetv1_100 mobilenetv2_050 mobilenetv3_small_050 mobilenetv4_conv_small_035 mobilenetv4_hybrid_medium
semnasnet_075 spnasnet_100 tinynet_e nf_regnet_b0 nf_resnet26 pvt_v2_b0 rdnet_tiny regnetx_002 regnety_002 regnetz_b16
repghostnet_050 repvit_m0_9 res2net50d resnest14d rexnet_100 rexnetr_200 selecsls42 legacy_seresnet18 skresnet18
shvit_s1 starnet_s050 swiftformer_xs tf_efficientnet_lite0 tf_efficientnetv2_b0 tf_mobilenetv3_small_minimal_100
tresnet_m ese_vovnet19b_dw ese_vovnet19b_slim xception41 legacy_xception focalnet_tiny_srf davit_tiny mobilevit_xxs
mobilevitv2_050 caformer_s18 nextvit_small efficientvit_m0:224 efficientvit_l1 convmixer_768_32 gmlp_ti16_224:224
mixer_s32_224:224 resmlp_12_224:224 gmixer_12_224:224 crossvit_tiny_240:240 coat_lite_tiny:224 levit_128s:224
levit_conv_128s:224 pit_ti_224:224 convit_tiny:224 tnt_s_legacy_patch16_224:224 twins_svt_small:224
twins_pcpvt_small:224 visformer_tiny:224 nest_tiny:224 gcvit_xxtiny:224 tiny_vit_5m_224:224 maxvit_pico_rw_256:256
coatnet_pico_rw_224:224 efficientformer_l1:224 efficientformerv2_s0:224 sequencer2d_s:224 mvitv2_tiny:224
hiera_tiny_224:224 csatv2
"""

# Transformers whose depth and width are set: (name, size, options).
SET = [
    ("vit_tiny_patch16_224", 64, dict(depth=2, img_size=64)),
    ("deit_tiny_distilled_patch16_224", 64, dict(depth=2, img_size=64)),
    ("deit3_small_patch16_224", 64, dict(depth=2, img_size=64, embed_dim=96, num_heads=3)),
    ("vit_relpos_small_patch16_224", 64, dict(depth=2, img_size=64, embed_dim=96, num_heads=3)),
    ("vit_srelpos_small_patch16_224", 64, dict(depth=2, img_size=64, embed_dim=96, num_heads=3)),
    ("vit_relpos_medium_patch16_rpn_224", 64, dict(depth=2, img_size=64, embed_dim=96, num_heads=3)),
    ("vit_tiny_r_s16_p8_224", 64, dict(depth=2, img_size=64)),
    ("vit_small_patch14_reg4_dinov2", 56, dict(depth=2, img_size=56, embed_dim=96, num_heads=3)),
    ("vit_base_patch16_siglip_224", 64, dict(depth=2, img_size=64, embed_dim=96, num_heads=3)),
    ("beit_base_patch16_224", 64, dict(depth=2, img_size=64, embed_dim=96, num_heads=3)),
    ("beitv2_base_patch16_224", 64, dict(depth=2, img_size=64, embed_dim=96, num_heads=3)),
    ("eva02_tiny_patch14_224", 56, dict(depth=2, img_size=56)),
    ("vit_small_patch16_rope_224", 64, dict(depth=2, img_size=64, embed_dim=96, num_heads=3)),
    ("cait_xxs24_224", 64, dict(depth=2, img_size=64)),
    ("xcit_nano_12_p16_224", 64, dict(depth=2, img_size=64)),
    ("volo_d1_224", 64, dict(img_size=64)),
    ("swin_tiny_patch4_window7_224", 56, dict(img_size=56, depths=(1, 2, 1, 1), embed_dim=24, num_heads=(1, 2, 4, 8))),
    ("swinv2_tiny_window8_256", 64, dict(img_size=64, depths=(1, 2, 1, 1), embed_dim=24, num_heads=(1, 2, 4, 8))),
    ("swinv2_cr_tiny_224", 64, dict(img_size=64, depths=(1, 2, 1, 1), embed_dim=24, num_heads=(1, 2, 4, 8))),
    ("swin_s3_tiny_224", 224, dict(depths=(1, 1, 2, 1), embed_dim=24, num_heads=(1, 2, 4, 8))),
    ("naflexvit_base_patch16_gap", 64, dict(depth=2, embed_dim=96, num_heads=3)),
]


def network(name, size, options):
    def build():
        import timm
        import torch

        model = timm.create_model(name, pretrained=False, num_classes=10, **options)
        return model, {"x": torch.randn(1, 3, size, size)}

    return Architecture("timm_" + name, "classification", build, batch("x"))


def architectures():
    found = []
    for item in PLAIN.split():
        name, _, size = item.partition(":")
        found.append(network(name, int(size or 64), {}))
    return found + [network(*item) for item in SET]
