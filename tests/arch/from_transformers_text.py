"""Architectures of transformers over texts: encoders, decoders, encoder-decoders."""

from architectures import Architecture

BASE = dict(
    vocab_size=99,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=48,
    max_position_embeddings=64,
)
OPEN = {0: ("batch", 3), 1: ("length", 2)}


def make(kind, head, **options):
    """A module of transformers from its configuration alone."""
    import transformers

    config = transformers.AutoConfig.for_model(kind, **options)
    config.use_cache = False
    return (
        getattr(transformers, head).from_config(config)
        if head.startswith("Auto")
        else getattr(transformers, head)(config)
    )


def tokens(batch, length, vocabulary=99):
    import torch

    return torch.randint(3, vocabulary - 2, (batch, length))


def mask(batch, length):
    """The last quarter of the first row is padding."""
    import torch

    result = torch.ones(batch, length, dtype=torch.int64)
    result[0, length - length // 4 :] = 0
    return result


def encoder(kind, head="AutoModel", length=16, plain=False, **options):
    settings = options if plain else {**BASE, **options}

    def build():
        return make(kind, head, **settings), {"input_ids": tokens(1, length), "attention_mask": mask(1, length)}

    name = "hf_" + kind.replace("-", "_") + ("" if head == "AutoModel" else "_" + head.split("For")[-1].lower())
    return Architecture(name, "text encoder", build, {"input_ids": OPEN, "attention_mask": OPEN})


def decoder(kind, head="AutoModelForCausalLM", length=12, plain=False, masked=True, **options):
    settings = options if plain else {**BASE, "num_key_value_heads": 2, **options}

    def build():
        inputs = {"input_ids": tokens(1, length)}
        if masked:
            inputs["attention_mask"] = mask(1, length) * 0 + 1
        return make(kind, head, **settings), inputs

    vary = {"input_ids": OPEN}
    if masked:
        vary["attention_mask"] = OPEN
    return Architecture("hf_" + kind.replace("-", "_"), "text decoder", build, vary)


def pair(kind, head="AutoModelForSeq2SeqLM", **options):
    """An encoder-decoder: both token rows are given."""

    def build():
        return make(kind, head, **options), {
            "input_ids": tokens(1, 12),
            "attention_mask": mask(1, 12),
            "decoder_input_ids": tokens(1, 6),
        }

    vary = {"input_ids": OPEN, "attention_mask": OPEN, "decoder_input_ids": {0: ("batch", 3), 1: ("steps", 2)}}
    return Architecture("hf_" + kind.replace("-", "_"), "encoder-decoder", build, vary)


BART = dict(
    vocab_size=99,
    d_model=32,
    encoder_layers=2,
    decoder_layers=2,
    encoder_attention_heads=4,
    decoder_attention_heads=4,
    encoder_ffn_dim=48,
    decoder_ffn_dim=48,
    max_position_embeddings=64,
    pad_token_id=1,
    bos_token_id=0,
    eos_token_id=2,
    decoder_start_token_id=2,
)
T5 = dict(
    vocab_size=99,
    d_model=32,
    d_kv=8,
    d_ff=48,
    num_layers=2,
    num_decoder_layers=2,
    num_heads=4,
    decoder_start_token_id=0,
)


distil = dict(vocab_size=99, dim=32, n_layers=2, n_heads=4, hidden_dim=48, max_position_embeddings=64)
ENCODERS_ALIKE = [
    encoder(kind)
    for kind in (
        "bert roberta electra camembert xlm-roberta ernie roformer nystromformer esm mpnet megatron-bert "
        "data2vec-text xlm-roberta-xl roberta-prelayernorm rembert convbert splinter mobilebert layoutlm "
        "ibert"
    ).split()
]
ENCODERS = ENCODERS_ALIKE + [
    encoder("bert", "AutoModelForSequenceClassification", num_labels=3),
    encoder("bert", "AutoModelForMaskedLM"),
    encoder("bert", "AutoModelForTokenClassification", num_labels=5),
    encoder("bert", "AutoModelForQuestionAnswering"),
    encoder("distilbert", plain=True, **distil),
    encoder("distilbert", "AutoModelForSequenceClassification", plain=True, **distil),
    encoder("albert", embedding_size=16),
    encoder("deberta", relative_attention=True, pos_att_type=["p2c", "c2p"]),
    encoder("deberta-v2", relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8),
    encoder("funnel", plain=True, vocab_size=99, block_sizes=[1, 1], d_model=32, n_head=4, d_head=8, d_inner=48),
    encoder("squeezebert", embedding_size=32),
    encoder("fnet", tpu_short_seq_length=16),
    encoder("longformer", attention_window=8),
    encoder("big_bird", block_size=4, length=16, attention_type="original_full"),
    encoder("modernbert", global_attn_every_n_layers=2, local_attention=8, pad_token_id=0),
    encoder("xlnet", plain=True, vocab_size=99, d_model=32, n_layer=2, n_head=4, d_inner=48),
    encoder("xlm", plain=True, n_words=99, emb_dim=32, n_layers=2, n_heads=4, max_position_embeddings=64),
    encoder("flaubert", plain=True, vocab_size=99, n_words=99, emb_dim=32, n_layers=2, n_heads=4),
    encoder("canine", num_hash_buckets=64, length=32, local_transformer_stride=16, downsampling_rate=4),
    encoder("yoso"),
    encoder("mra"),
]


moe = dict(num_local_experts=4, num_experts_per_tok=2)
gpt2 = dict(vocab_size=99, n_positions=64, n_embd=32, n_layer=2, n_head=4)
DECODERS_ALIKE = [
    decoder(kind, pad_token_id=0)
    for kind in (
        "llama mistral qwen2 gemma phi phi3 stablelm starcoder2 olmo olmo2 cohere granite gpt_neox "
        "persimmon biogpt qwen3 glm nemotron smollm3 arcee exaone4 seed_oss"
    ).split()
]
DECODERS = DECODERS_ALIKE + [
    decoder("gemma2", head_dim=8, sliding_window=8),
    decoder("gemma3_text", head_dim=8, sliding_window=8),
    decoder("gpt2", plain=True, **gpt2),
    decoder("gpt_bigcode", plain=True, **gpt2),
    decoder("gptj", plain=True, vocab_size=99, n_positions=64, n_embd=32, n_layer=2, n_head=4, rotary_dim=4),
    decoder("codegen", plain=True, vocab_size=99, n_positions=64, n_embd=32, n_layer=2, n_head=4, rotary_dim=4),
    decoder(
        "gpt_neo",
        plain=True,
        vocab_size=99,
        hidden_size=32,
        num_layers=2,
        num_heads=4,
        attention_types=[[["global", "local"], 1]],
        window_size=8,
        max_position_embeddings=64,
    ),
    decoder("openai-gpt", plain=True, masked=False, **gpt2),
    decoder("ctrl", plain=True, masked=False, vocab_size=99, n_positions=64, n_embd=32, dff=48, n_layer=2, n_head=4),
    decoder(
        "opt",
        plain=True,
        vocab_size=99,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        ffn_dim=48,
        max_position_embeddings=64,
        word_embed_proj_dim=32,
    ),
    decoder("bloom", plain=True, vocab_size=99, hidden_size=32, n_layer=2, n_head=4),
    decoder("mpt", plain=True, vocab_size=99, d_model=32, n_heads=4, n_layers=2, max_seq_len=64),
    decoder("falcon", plain=True, vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4),
    decoder(
        "xglm",
        plain=True,
        vocab_size=99,
        d_model=32,
        num_layers=2,
        attention_heads=4,
        ffn_dim=48,
        max_position_embeddings=64,
    ),
    decoder("mixtral", **moe),
    decoder(
        "qwen2_moe",
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        shared_expert_intermediate_size=16,
    ),
    decoder("olmoe", num_experts=4, num_experts_per_tok=2, pad_token_id=0),
    decoder(
        "deepseek_v3",
        first_k_dense_replace=1,
        n_routed_experts=4,
        n_group=2,
        topk_group=1,
        q_lora_rank=16,
        kv_lora_rank=8,
        qk_rope_head_dim=4,
        qk_nope_head_dim=8,
        v_head_dim=8,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        num_key_value_heads=4,
    ),
    decoder("mamba", plain=True, masked=False, vocab_size=99, hidden_size=32, num_hidden_layers=2, state_size=4),
    decoder(
        "mamba2",
        plain=True,
        masked=False,
        vocab_size=99,
        hidden_size=32,
        num_hidden_layers=2,
        state_size=8,
        num_heads=4,
        head_dim=16,
        n_groups=1,
        chunk_size=8,
    ),
    decoder("falcon_mamba", plain=True, masked=False, vocab_size=99, hidden_size=32, num_hidden_layers=2, state_size=4),
    decoder(
        "recurrent_gemma",
        plain=True,
        vocab_size=99,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=96,
        lru_width=32,
        attention_window_size=8,
        num_key_value_heads=1,
    ),
    decoder(
        "rwkv",
        plain=True,
        masked=False,
        vocab_size=99,
        hidden_size=32,
        num_hidden_layers=2,
        attention_hidden_size=32,
        context_length=64,
    ),
    decoder("xlstm", plain=True, masked=False, vocab_size=99, hidden_size=32, num_blocks=2, num_heads=4),
    decoder("lfm2", layer_types=["conv", "full_attention"], pad_token_id=0),
]


PAIRS_ALIKE = [
    pair(kind, **BART) for kind in "bart mbart pegasus marian blenderbot blenderbot-small m2m_100 plbart".split()
]
PAIRS = PAIRS_ALIKE + [
    pair("t5", **T5),
    pair("mt5", **T5),
    pair("umt5", **T5),
    pair("longt5", **{**T5, "local_radius": 4}),
    pair(
        "switch_transformers",
        **{**T5, "num_experts": 2, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1}
    ),
    pair(
        "led",
        **{
            **{k: v for k, v in BART.items() if k != "max_position_embeddings"},
            "attention_window": 4,
            "max_encoder_position_embeddings": 64,
            "max_decoder_position_embeddings": 64,
        }
    ),
    pair(
        "prophetnet",
        vocab_size=99,
        hidden_size=32,
        num_encoder_layers=2,
        num_decoder_layers=2,
        num_encoder_attention_heads=4,
        num_decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=64,
        ngram=2,
    ),
    pair(
        "fsmt",
        head="FSMTForConditionalGeneration",
        langs=["en", "de"],
        src_vocab_size=99,
        tgt_vocab_size=99,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=64,
    ),
    pair("nllb-moe", **{**BART, "num_experts": 4, "encoder_sparse_step": 2, "decoder_sparse_step": 2}),
]


def architectures():
    return ENCODERS + DECODERS + PAIRS
