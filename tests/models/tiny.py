"""Models of a few thousand weights, made here: random, yet a text is most like one with the same words."""

import json
import tempfile
from functools import cache
from pathlib import Path

WORDS = """how many vehicles fit the yard why was pump recalled holds 4 , 200 . ? rain fell on harbour for
nine days fuel in 2024 paved with asphalt recycled engine crane alpha beta gamma word a""".split()  # noqa: SIM905
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]"]
WIDTH = 64


def save_tokenizer(folder):
    """A WordPiece tokenizer of ``WORDS`` and single letters."""
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertTokenizerFast

    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    entries = dict.fromkeys(
        [*SPECIAL, *WORDS, *letters, *(f"##{one}" for one in letters + list("0123456789"))]
    )
    made = BertWordPieceTokenizer(vocab={entry: i for i, entry in enumerate(entries)}, lowercase=True)
    tokenizer = BertTokenizerFast(tokenizer_object=made._tokenizer, model_max_length=64)
    tokenizer.add_special_tokens({"additional_special_tokens": ["[unused0]", "[unused1]"]})
    tokenizer.save_pretrained(folder)
    return len(entries)


def bert(vocabulary, model="BertModel"):
    """A BERT of one layer that leaves its word embeddings nearly as they are."""
    import torch
    import transformers

    torch.manual_seed(5)
    config = transformers.BertConfig(
        vocab_size=vocabulary,
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=WIDTH,
        max_position_embeddings=64,
    )
    made = getattr(transformers, model)(config).eval()
    base = getattr(made, "bert", made)
    with torch.no_grad():
        base.embeddings.word_embeddings.weight.normal_(0, 1)
        base.embeddings.position_embeddings.weight.zero_()
        base.embeddings.token_type_embeddings.weight.zero_()
        if model == "BertForMaskedLM":
            # a word speaks for itself above all, and few others for it
            made.cls.predictions.transform.dense.weight.copy_(torch.eye(WIDTH))
            made.cls.predictions.bias.fill_(-16)
    return made


def transformer(folder, model="BertModel", **options):
    """The same as a module of sentence-transformers, saved and loaded through ``folder``."""
    from sentence_transformers.base.modules import Transformer

    folder.mkdir(parents=True)
    bert(save_tokenizer(folder), model).save_pretrained(folder)
    return Transformer(str(folder), **options)


def splade(folder):
    """A SPLADE model in ``folder``; returns its name."""
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import SpladePooling

    base = transformer(folder / "base", "BertForMaskedLM", transformer_task="fill-mask")
    SparseEncoder(modules=[base, SpladePooling(pooling_strategy="max")]).save_pretrained(
        str(folder / "splade")
    )
    return str(folder / "splade")


def bi_encoder(folder):
    """A bi-encoder in ``folder``; returns its name."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    base = transformer(folder / "base")
    SentenceTransformer(modules=[base, Pooling(WIDTH, "mean")]).save_pretrained(str(folder / "bi"))
    return str(folder / "bi")


def cross_encoder(folder, **activation):
    """A cross-encoder in ``folder``, whose configuration may name its ``activation_fn``; returns its name."""
    folder.mkdir(parents=True)
    made = bert(save_tokenizer(folder), "BertForSequenceClassification")
    made.config.num_labels = 1
    made.classifier = type(made.classifier)(WIDTH, 1)
    made.config.sentence_transformers = activation
    made.save_pretrained(folder)
    return str(folder)


def word_tokenizer(folder, pad, more, limit):
    """A tokenizer of ``WORDS`` and ``more``, of which ``pad`` may be None; returns its vocabulary."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = dict.fromkeys([*([pad] if pad else []), "<unk>", "<s>", "</s>", *WORDS, *more])
    vocabulary = {word: at for at, word in enumerate(words)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    named = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    named |= {"pad_token": pad} if pad else {}
    named |= {"model_max_length": limit} if limit else {}
    PreTrainedTokenizerFast(tokenizer_object=made, **named).save_pretrained(folder)
    return vocabulary


def random_model(folder, family, head, pad="<pad>", more=("yes", "no"), limit=64, **config):
    """A model of 32 dimensions of a ``family`` of transformers, such as Qwen3; returns its name."""
    import torch
    import transformers

    folder.mkdir(parents=True)
    vocabulary = word_tokenizer(folder, pad, more, limit)
    torch.manual_seed(3)
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    decoder = {"num_key_value_heads": 1, "head_dim": 16} if family == "Qwen3" else {}
    made = getattr(transformers, f"{family}Config")(
        vocab_size=len(vocabulary),
        max_position_embeddings=66,
        pad_token_id=vocabulary.get(pad),
        **sizes,
        **decoder,
        **config,
    )
    getattr(transformers, f"{family}{head}")(made).save_pretrained(folder)
    return str(folder)


def last_token(folder, name, **options):
    """The model ``name`` as a bi-encoder whose vector is that of the last token; returns its name."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    base = Transformer(name, processor_kwargs={"padding_side": "left"})
    made = SentenceTransformer(modules=[base, Pooling(32, "lasttoken")], **options)
    made.save_pretrained(str(folder))
    return str(folder)


def colbert(folder):
    """A ColBERT model as sentence-transformers saves it, with its projection; returns its name."""
    import torch
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Normalize
    from sentence_transformers.base.modules.dense import Dense
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    base = transformer(folder / "base", query_expansion={"strategy": "fixed", "attend": False, "length": 16})
    torch.manual_seed(6)
    dense = Dense(
        WIDTH, 32, bias=False, activation_function=torch.nn.Identity(), module_input_name="token_embeddings"
    )
    modules = [base, dense, MultiVectorMask(), Normalize(module_input_name="token_embeddings")]
    MultiVectorEncoder(
        modules=modules, prompts={"query": "[unused0] ", "document": "[unused1] "}
    ).save_pretrained(str(folder / "colbert"))
    return str(folder / "colbert")


def stanford_colbert(folder, projection=True):
    """A ColBERT checkpoint in the form of its authors; returns its name."""
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True)
    made = bert(save_tokenizer(folder))
    made.config.architectures = ["HF_ColBERT"]
    made.config.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["HF_ColBERT"]}))
    weights = {f"bert.{name}": tensor.contiguous() for name, tensor in made.state_dict().items()}
    if projection:
        torch.manual_seed(6)
        weights["linear.weight"] = torch.randn(32, WIDTH)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "artifact.metadata").write_text(json.dumps({"query_maxlen": 16, "doc_maxlen": 60}))
    return str(folder)


@cache
def a_splade():
    """One such model for all tests of a process, in a folder that goes when the process ends."""
    folder = tempfile.TemporaryDirectory()
    _KEPT.append(folder)
    return splade(Path(folder.name))


_KEPT = []


def tagger(folder, sentences, steps=60):
    """A BERT in ``folder``, trained to label words as in sentences of (word, label); returns its name."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertForTokenClassification, BertTokenizerFast

    folder.mkdir(parents=True)
    words = dict.fromkeys(word for sentence in sentences for word, _ in sentence)
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    entries = dict.fromkeys([*SPECIAL, *words, *letters, *(f"##{letter}" for letter in letters)])
    made = BertWordPieceTokenizer(vocab={entry: at for at, entry in enumerate(entries)}, lowercase=False)
    tokenizer = BertTokenizerFast(tokenizer_object=made._tokenizer, model_max_length=32)
    tokenizer.save_pretrained(folder)
    labels = sorted({label for sentence in sentences for _, label in sentence})
    torch.manual_seed(3)
    model = BertForTokenClassification(
        BertConfig(
            vocab_size=len(entries),
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=32,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            id2label=dict(enumerate(labels)),
            label2id={label: at for at, label in enumerate(labels)},
        )
    )
    # neither the place of a word nor other words count, so that it is labelled in any text as in these
    attended = model.bert.encoder.layer[0].attention.output.dense
    for layer in (model.bert.embeddings.position_embeddings, attended):
        torch.nn.init.zeros_(layer.weight)
        layer.weight.requires_grad_(False)
    batch = tokenizer(
        [[word for word, _ in sentence] for sentence in sentences],
        is_split_into_words=True,
        padding=True,
        return_tensors="pt",
    )
    targets = torch.full(batch["input_ids"].shape, -100)
    for row, sentence in enumerate(sentences):
        for place, word in enumerate(batch.word_ids(row)):
            if word is not None:
                targets[row, place] = labels.index(sentence[word][1])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(steps):
        optimizer.zero_grad()
        model(**batch, labels=targets).loss.backward()
        optimizer.step()
    model.eval().save_pretrained(folder)
    return str(folder)
