"""Turns a GGUF file into a Hugging Face folder in bfloat16, for servers that read no GGUF.

    python scripts/gguf_to_hf.py MODEL.gguf FOLDER

Runs in an environment with torch, transformers and gguf (scripts/make_vllm_env.sh makes one).
The weights are those of the quantised file, written out: quality is the GGUF's own.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path


def convert(gguf: Path, folder: Path) -> None:
    """Writes the folder whole or not at all."""
    import torch  # type: ignore[import-not-found]
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer  # type: ignore[import-not-found]

    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    source, name = str(gguf.parent), gguf.name
    quantised = AutoModelForCausalLM.from_pretrained(source, gguf_file=name)
    settings = AutoConfig.from_pretrained(source, gguf_file=name).to_dict()
    # A model that remembers its quantisation refuses to be saved: rebuild it from a config that
    # does not.
    settings.pop("quantization_config", None)
    config = type(quantised.config).from_dict(settings)
    config.architectures = [type(quantised).__name__]
    config.dtype = torch.bfloat16
    plain = type(quantised)(config).to(torch.bfloat16)
    plain.load_state_dict(quantised.state_dict())
    plain.save_pretrained(partial)
    AutoTokenizer.from_pretrained(source, gguf_file=name).save_pretrained(partial)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    convert(options.gguf, options.folder)
    print(options.folder)
