"""Architectures of transformers over sound, series, videos and mixtures of texts and pictures."""

from from_transformers_pictures import PICTURE, TEXT, model, wave
from from_transformers_text import mask, tokens

w2v = dict(
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=48,
    conv_dim=[16, 16, 16],
    conv_kernel=[10, 3, 2],
    conv_stride=[5, 2, 2],
    num_feat_extract_layers=3,
    num_conv_pos_embeddings=8,
    num_conv_pos_embedding_groups=2,
    vocab_size=32,
)
vary = {"input_values": {0: ("batch", 2), 1: ("samples", 2)}}
SOUND_ALIKE = [
    model(kind, "speech", wave(1600), head, vary=vary, **w2v)
    for kind, head in (
        ("wav2vec2", "AutoModelForCTC"),
        ("hubert", "AutoModelForCTC"),
        ("wavlm", "AutoModelForCTC"),
        ("unispeech", "AutoModelForCTC"),
        ("unispeech-sat", "AutoModelForCTC"),
        ("data2vec-audio", "AutoModelForCTC"),
        ("sew", "AutoModelForCTC"),
    )
]
mel = lambda torch: {"input_features": torch.randn(1, 16, 60), "decoder_input_ids": torch.randint(3, 90, (1, 5))}
SOUND = SOUND_ALIKE + [
    model(
        "wav2vec2",
        "speech",
        wave(1600),
        "AutoModelForCTC",
        "_layer",
        vary=vary,
        **w2v,
        feat_extract_norm="layer",
        do_stable_layer_norm=True
    ),
    model(
        "wav2vec2-conformer",
        "speech",
        wave(1600),
        "AutoModelForCTC",
        vary=vary,
        **w2v,
        position_embeddings_type="relative"
    ),
    model(
        "wav2vec2-bert",
        "speech",
        lambda torch: {"input_features": torch.randn(1, 20, 160)},
        "AutoModelForCTC",
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        vocab_size=32,
    ),
    model(
        "whisper",
        "speech",
        mel,
        "WhisperForConditionalGeneration",
        vocab_size=99,
        num_mel_bins=16,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_source_positions=30,
        max_target_positions=32,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    ),
    model(
        "speech_to_text",
        "speech",
        lambda torch: {"input_features": torch.randn(1, 40, 80), "decoder_input_ids": torch.randint(3, 90, (1, 5))},
        "Speech2TextForConditionalGeneration",
        vocab_size=99,
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_source_positions=60,
        conv_channels=32,
    ),
    model(
        "audio-spectrogram-transformer",
        "sound",
        lambda torch: {"input_values": torch.randn(1, 64, 32)},
        "AutoModelForAudioClassification",
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_length=64,
        num_mel_bins=32,
    ),
    model(
        "encodec",
        "sound",
        lambda torch: {"input_values": torch.randn(1, 1, 640)},
        "EncodecModel",
        num_filters=4,
        hidden_size=16,
        codebook_size=32,
        codebook_dim=16,
        upsampling_ratios=[4, 2],
        num_lstm_layers=1,
    ),
    model(
        "dac",
        "sound",
        lambda torch: {"input_values": torch.randn(1, 1, 640)},
        "DacModel",
        encoder_hidden_size=4,
        downsampling_ratios=[4, 2],
        upsampling_ratios=[2, 4],
        decoder_hidden_size=16,
        n_codebooks=2,
        codebook_size=16,
        codebook_dim=4,
    ),
]


past = lambda torch: {"past_values": torch.randn(1, 32, 2)}
SERIES = [
    model(
        "patchtst",
        "series",
        past,
        "PatchTSTForPrediction",
        num_input_channels=2,
        context_length=32,
        patch_length=8,
        patch_stride=8,
        d_model=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        ffn_dim=32,
        prediction_length=8,
    ),
    model(
        "patchtsmixer",
        "series",
        past,
        "PatchTSMixerForPrediction",
        num_input_channels=2,
        context_length=32,
        patch_length=8,
        patch_stride=8,
        d_model=16,
        num_layers=2,
        prediction_length=8,
    ),
    model(
        "decision_transformer",
        "series",
        lambda torch: {
            "states": torch.randn(1, 5, 4),
            "actions": torch.randn(1, 5, 2),
            "rewards": torch.randn(1, 5, 1),
            "returns_to_go": torch.randn(1, 5, 1),
            "timesteps": torch.arange(5)[None],
            "attention_mask": torch.ones(1, 5, dtype=torch.int64),
        },
        "DecisionTransformerModel",
        state_dim=4,
        act_dim=2,
        hidden_size=32,
        max_ep_len=20,
        n_layer=2,
        n_head=2,
    ),
]


both = lambda torch: {
    "input_ids": tokens(2, 8),
    "pixel_values": torch.randn(1, 3, 32, 32),
    "attention_mask": mask(2, 8),
}
MIXED_ALIKE = [
    model(
        "clip",
        "mixed",
        both,
        "CLIPModel",
        vision_config=dict(PICTURE, projection_dim=16),
        text_config=dict(TEXT, projection_dim=16, eos_token_id=98),
        projection_dim=16,
    ),
    model("siglip", "mixed", both, "SiglipModel", vision_config=PICTURE, text_config=dict(TEXT, projection_size=32)),
    model(
        "chinese_clip",
        "mixed",
        both,
        "ChineseCLIPModel",
        vision_config=PICTURE,
        text_config=TEXT,
        projection_dim=16,
    ),
    model(
        "blip",
        "mixed",
        both,
        "BlipModel",
        vision_config=PICTURE,
        text_config=dict(TEXT, projection_dim=16, encoder_hidden_size=32),
        projection_dim=16,
    ),
    model(
        "clipseg",
        "mixed",
        both,
        "CLIPSegModel",
        vision_config=PICTURE,
        text_config=dict(TEXT, eos_token_id=98),
        projection_dim=16,
    ),
    model("owlvit", "mixed", both, "OwlViTModel", vision_config=PICTURE, text_config=TEXT, projection_dim=16),
    model(
        "vilt",
        "mixed",
        lambda torch: {"input_ids": tokens(1, 8), "pixel_values": torch.randn(1, 3, 32, 32)},
        "ViltModel",
        **TEXT,
        image_size=32,
        patch_size=8
    ),
    model(
        "visual_bert",
        "mixed",
        lambda torch: {"input_ids": tokens(1, 8), "visual_embeds": torch.randn(1, 3, 16)},
        "VisualBertModel",
        **TEXT,
        visual_embedding_dim=16
    ),
    model(
        "lxmert",
        "mixed",
        lambda torch: {
            "input_ids": tokens(1, 8),
            "visual_feats": torch.randn(1, 3, 16),
            "visual_pos": torch.rand(1, 3, 4),
        },
        "LxmertModel",
        **TEXT,
        l_layers=1,
        x_layers=1,
        r_layers=1,
        visual_feat_dim=16
    ),
    model(
        "perceiver",
        "mixed",
        lambda torch: {"inputs": torch.randn(1, 20, 16)},
        "PerceiverModel",
        num_latents=8,
        d_latents=16,
        d_model=16,
        num_blocks=1,
        num_self_attends_per_block=2,
        num_self_attention_heads=2,
        num_cross_attention_heads=2,
    ),
    model(
        "git",
        "mixed",
        lambda torch: {"input_ids": tokens(1, 8), "pixel_values": torch.randn(1, 3, 32, 32)},
        "GitModel",
        **TEXT,
        vision_config=PICTURE
    ),
    model(
        "trocr",
        "text decoder",
        lambda torch: {"input_ids": tokens(1, 8)},
        "TrOCRForCausalLM",
        vocab_size=99,
        d_model=32,
        decoder_layers=2,
        decoder_attention_heads=4,
        decoder_ffn_dim=48,
        max_position_embeddings=64,
    ),
    model(
        "videomae",
        "video",
        lambda torch: {"pixel_values": torch.randn(1, 4, 3, 32, 32)},
        "VideoMAEForVideoClassification",
        **PICTURE,
        num_frames=4,
        tubelet_size=2
    ),
    model(
        "timesformer",
        "video",
        lambda torch: {"pixel_values": torch.randn(1, 4, 3, 32, 32)},
        "TimesformerForVideoClassification",
        **PICTURE,
        num_frames=4
    ),
    model(
        "vivit",
        "video",
        lambda torch: {"pixel_values": torch.randn(1, 4, 3, 32, 32)},
        "VivitForVideoClassification",
        **{k: v for k, v in PICTURE.items() if k != "patch_size"},
        num_frames=4,
        tubelet_size=[2, 8, 8]
    ),
    model(
        "layoutlmv3",
        "mixed",
        lambda torch: {
            "input_ids": tokens(1, 8),
            "bbox": torch.randint(0, 60, (1, 8, 2)).repeat(1, 1, 2).sort(-1).values,
            "pixel_values": torch.randn(1, 3, 32, 32),
        },
        "LayoutLMv3Model",
        **TEXT,
        input_size=32,
        patch_size=8,
        coordinate_size=6,
        shape_size=4,
        max_2d_position_embeddings=64
    ),
]
MIXED = MIXED_ALIKE


def architectures():
    return SOUND + SERIES + MIXED
