#!/bin/sh
# Build Horovod's wheel for the PyTorch and the MPI that are installed: build.sh FOLDER. Takes minutes.
# GPU=NCCL builds it for GPUs; CUDA's headers must be there then, as they are in AWS's PyTorch images.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python -m pip install --quiet --no-cache-dir --requirement "$here/requirements.txt"
export CXX="$here/c++17"
export HOROVOD_WITH_PYTORCH=1 HOROVOD_WITH_MPI=1
export HOROVOD_WITHOUT_GLOO=1 HOROVOD_WITHOUT_TENSORFLOW=1 HOROVOD_WITHOUT_MXNET=1
if [ -n "${GPU:-}" ]; then
    export HOROVOD_GPU_OPERATIONS="$GPU"
fi
python -m pip wheel --quiet --no-cache-dir --no-build-isolation --no-deps --wheel-dir "$1" horovod==0.28.1
