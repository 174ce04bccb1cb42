"""Architectures of torchaudio.models: recognition, synthesis and separation of sound."""

from architectures import Architecture, batch


def model(name, inputs, make, vary=None):
    """make(torchaudio.models) builds the module, inputs(torch) its tensors."""

    def build():
        import torch
        import torchaudio

        return make(torchaudio.models), inputs(torch)

    return Architecture("ta_" + name, "sound", build, vary or {})


def framed(frames, width):
    return lambda torch: {"input": torch.randn(1, frames, width), "lengths": torch.tensor([frames])}


def conv_tasnet(models):
    return models.ConvTasNet(2, 8, 16, 3, 8, 16, 3, 2)


def tacotron(models):
    return models.Tacotron2(
        n_mels=8,
        n_symbol=20,
        symbol_embedding_dim=16,
        encoder_embedding_dim=16,
        encoder_n_convolution=1,
        decoder_rnn_dim=16,
        attention_rnn_dim=16,
        attention_hidden_dim=16,
        attention_location_n_filter=4,
        prenet_dim=16,
        postnet_n_convolution=2,
        postnet_embedding_dim=16,
    )


def spoken(torch):
    return {
        "tokens": torch.randint(0, 20, (1, 7)),
        "token_lengths": torch.tensor([7]),
        "mel_specgram": torch.randn(1, 8, 9),
        "mel_specgram_lengths": torch.tensor([9]),
    }


def wave(samples, channels=1):
    return lambda torch: {"x": torch.randn(1, channels, samples)}


def architectures():
    return [
        model("conv_tasnet", wave(400), conv_tasnet, {"x": {0: ("batch", 2), 2: ("samples", 2)}}),
        model("deepspeech", lambda t: {"x": t.randn(1, 1, 12, 8)}, lambda m: m.DeepSpeech(8, 24, 10), batch("x")),
        model("wav2letter", wave(900), lambda m: m.Wav2Letter(10, "waveform", 1), batch("x")),
        model("conformer", framed(24, 16), lambda m: m.Conformer(16, 4, 32, 2, 5)),
        model("emformer", framed(24, 16), lambda m: m.Emformer(16, 4, 32, 2, 4, right_context_length=4)),
        model(
            "wavernn",
            lambda t: {"waveform": t.randn(1, 1, 32), "specgram": t.randn(1, 1, 8, 8)},
            lambda m: m.WaveRNN([2, 4], 16, 8, 1, 16, 16, 5, 8, 8, 8),
        ),
        model("tacotron2", spoken, tacotron),
        model(
            "wav2vec2",
            lambda t: {"x": t.randn(1, 1600)},
            lambda m: m.wav2vec2_model(
                "group_norm",
                [[16, 10, 5], [16, 3, 2]],
                False,
                16,
                0.0,
                8,
                2,
                2,
                4,
                0.0,
                24,
                0.0,
                0.0,
                False,
                0.0,
                12,
            ),
        ),
    ]
