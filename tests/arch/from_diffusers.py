"""Architectures of diffusers: what removes noise from pictures, latents, sound and videos, and what codes them."""

from architectures import Architecture


def model(kind, inputs, vary=None, **options):
    """A class of diffusers, thin; inputs(torch) makes its tensors."""

    def build():
        import diffusers
        import torch

        return getattr(diffusers, kind)(**options), inputs(torch)

    return Architecture("df_" + kind.lower(), "diffusion", build, vary or {})


def picture(channels, size, key="sample"):
    return lambda torch: {key: torch.randn(1, channels, size, size)}


def noisy(channels, size, **more):
    """A noisy picture, the time step, and what else: {name: shape}; a shape of one number is a count of classes."""

    def make(torch):
        found = {"sample": torch.randn(1, channels, size, size), "timestep": torch.tensor([7])}
        return dict(found, **{name: torch.randn(*shape) for name, shape in more.items()})

    return make


def tokens(channels, size, **more):
    def make(torch):
        found = {"hidden_states": torch.randn(1, channels, size, size), "timestep": torch.tensor([7])}
        return dict(found, **{name: torch.randn(*shape) for name, shape in more.items()})

    return make


def flux(torch):
    return {
        "hidden_states": torch.randn(1, 16, 4),
        "encoder_hidden_states": torch.randn(1, 6, 16),
        "pooled_projections": torch.randn(1, 16),
        "timestep": torch.tensor([0.5]),
        "img_ids": torch.rand(16, 3),
        "txt_ids": torch.zeros(6, 3),
    }


def classes(torch):
    return {
        "hidden_states": torch.randn(1, 4, 8, 8),
        "timestep": torch.tensor([7]),
        "class_labels": torch.tensor([3]),
    }


SIZED = {"sample": {0: ("batch", 2), 2: ("height", 2), 3: ("width", 2)}}
LATENT = {"sample": {0: ("batch", 2)}, "timestep": {0: ("batch", 2)}, "encoder_hidden_states": {0: ("batch", 2)}}
blocks = dict(block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8)
coder = dict(
    down_block_types=("DownEncoderBlock2D",) * 2,
    up_block_types=("UpDecoderBlock2D",) * 2,
    **blocks,
)
heads = dict(num_attention_heads=2, attention_head_dim=8, num_layers=2)
ALL = [
    model(
        "UNet2DModel",
        noisy(3, 16),
        sample_size=16,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        **blocks,
    ),
    model(
        "UNet2DConditionModel",
        noisy(4, 16, encoder_hidden_states=(1, 6, 16)),
        LATENT,
        sample_size=16,
        cross_attention_dim=16,
        attention_head_dim=4,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        **blocks,
    ),
    model(
        "UNet3DConditionModel",
        lambda torch: {
            "sample": torch.randn(1, 4, 2, 16, 16),
            "timestep": torch.tensor([7]),
            "encoder_hidden_states": torch.randn(1, 6, 16),
        },
        sample_size=16,
        cross_attention_dim=16,
        attention_head_dim=4,
        down_block_types=("CrossAttnDownBlock3D", "DownBlock3D"),
        up_block_types=("UpBlock3D", "CrossAttnUpBlock3D"),
        **blocks,
    ),
    model(
        "UNet1DModel",
        lambda torch: {"sample": torch.randn(1, 2, 64), "timestep": torch.tensor([7])},
        sample_size=64,
        in_channels=2,
        out_channels=2,
        extra_in_channels=0,
        use_timestep_embedding=False,
        block_out_channels=(16, 32, 32),
        layers_per_block=1,
    ),
    model("AutoencoderKL", picture(3, 32), SIZED, latent_channels=4, sample_size=32, **coder),
    model("VQModel", picture(3, 32), num_vq_embeddings=32, latent_channels=4, **coder),
    model(
        "AutoencoderTiny",
        picture(3, 32),
        encoder_block_out_channels=(16,) * 4,
        decoder_block_out_channels=(16,) * 4,
    ),
    model(
        "ConsistencyDecoderVAE",
        picture(3, 32),
        encoder_block_out_channels=(16, 32),
        encoder_down_block_types=("DownEncoderBlock2D",) * 2,
        encoder_layers_per_block=1,
        encoder_norm_num_groups=8,
        decoder_block_out_channels=(32, 32),
        decoder_down_block_types=("ResnetDownsampleBlock2D",) * 2,
        decoder_up_block_types=("ResnetUpsampleBlock2D",) * 2,
        decoder_layers_per_block=1,
        decoder_norm_num_groups=8,
    ),
    model(
        "DiTTransformer2DModel",
        classes,
        sample_size=8,
        patch_size=2,
        in_channels=4,
        out_channels=8,
        num_embeds_ada_norm=10,
        norm_num_groups=4,
        **heads,
    ),
    model(
        "PixArtTransformer2DModel",
        tokens(4, 8, encoder_hidden_states=(1, 6, 16)),
        sample_size=8,
        caption_channels=16,
        cross_attention_dim=16,
        norm_num_groups=4,
        use_additional_conditions=False,
        **heads,
    ),
    model(
        "SD3Transformer2DModel",
        tokens(4, 8, encoder_hidden_states=(1, 6, 16), pooled_projections=(1, 16)),
        sample_size=8,
        in_channels=4,
        out_channels=4,
        caption_projection_dim=16,
        joint_attention_dim=16,
        pooled_projection_dim=16,
        pos_embed_max_size=8,
        **heads,
    ),
    model(
        "FluxTransformer2DModel",
        flux,
        in_channels=4,
        num_single_layers=1,
        joint_attention_dim=16,
        pooled_projection_dim=16,
        axes_dims_rope=(2, 2, 4),
        guidance_embeds=False,
        **heads,
    ),
    model(
        "AuraFlowTransformer2DModel",
        tokens(4, 8, encoder_hidden_states=(1, 6, 16)),
        sample_size=8,
        in_channels=4,
        num_mmdit_layers=1,
        num_single_dit_layers=1,
        attention_head_dim=8,
        num_attention_heads=2,
        joint_attention_dim=16,
        caption_projection_dim=16,
        out_channels=4,
        pos_embed_max_size=16,
    ),
    model(
        "SanaTransformer2DModel",
        tokens(4, 8, encoder_hidden_states=(1, 6, 16)),
        sample_size=8,
        in_channels=4,
        out_channels=4,
        num_cross_attention_heads=2,
        cross_attention_head_dim=8,
        cross_attention_dim=16,
        caption_channels=16,
        **heads,
    ),
    model(
        "CogVideoXTransformer3DModel",
        lambda torch: {
            "hidden_states": torch.randn(1, 2, 4, 8, 8),
            "encoder_hidden_states": torch.randn(1, 6, 16),
            "timestep": torch.tensor([7]),
        },
        in_channels=4,
        out_channels=4,
        time_embed_dim=8,
        text_embed_dim=16,
        sample_width=8,
        sample_height=8,
        sample_frames=5,
        max_text_seq_length=6,
        **heads,
    ),
    model(
        "WanTransformer3DModel",
        lambda torch: {
            "hidden_states": torch.randn(1, 4, 2, 8, 8),
            "timestep": torch.tensor([7]),
            "encoder_hidden_states": torch.randn(1, 6, 16),
        },
        num_attention_heads=2,
        attention_head_dim=12,
        in_channels=4,
        out_channels=4,
        text_dim=16,
        freq_dim=16,
        ffn_dim=32,
        num_layers=2,
        rope_max_seq_len=32,
    ),
    model(
        "PriorTransformer",
        lambda torch: {
            "hidden_states": torch.randn(1, 16),
            "timestep": torch.tensor([7]),
            "proj_embedding": torch.randn(1, 16),
            "encoder_hidden_states": torch.randn(1, 6, 16),
        },
        embedding_dim=16,
        num_embeddings=6,
        additional_embeddings=4,
        **heads,
    ),
    model(
        "ControlNetModel",
        lambda torch: {
            "sample": torch.randn(1, 4, 16, 16),
            "timestep": torch.tensor([7]),
            "encoder_hidden_states": torch.randn(1, 6, 16),
            "controlnet_cond": torch.rand(1, 3, 128, 128),
        },
        cross_attention_dim=16,
        attention_head_dim=4,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        conditioning_embedding_out_channels=(8, 16, 16, 16),
        **blocks,
    ),
    model(
        "AutoencoderKLTemporalDecoder",
        lambda torch: {"sample": torch.randn(2, 3, 32, 32), "num_frames": 2},
        block_out_channels=(32, 32),
        down_block_types=("DownEncoderBlock2D",) * 2,
        layers_per_block=1,
    ),
    model(
        "AutoencoderOobleck",
        lambda torch: {"sample": torch.randn(1, 2, 640)},
        encoder_hidden_size=12,
        downsampling_ratios=[2, 4],
        channel_multiples=[1, 2],
        decoder_channels=12,
        decoder_input_channels=6,
        audio_channels=2,
    ),
    model(
        "AutoencoderDC",
        picture(3, 32),
        in_channels=3,
        latent_channels=4,
        attention_head_dim=2,
        encoder_block_types=("ResBlock", "EfficientViTBlock"),
        decoder_block_types=("ResBlock", "EfficientViTBlock"),
        encoder_block_out_channels=(8, 8),
        decoder_block_out_channels=(8, 8),
        encoder_qkv_multiscales=((), (5,)),
        decoder_qkv_multiscales=((), (5,)),
        encoder_layers_per_block=(1, 1),
        decoder_layers_per_block=(1, 1),
        downsample_block_type="conv",
        upsample_block_type="interpolate",
        decoder_norm_types="rms_norm",
        decoder_act_fns="silu",
    ),
]


def architectures():
    return ALL
