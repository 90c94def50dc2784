"""The DistributedDataParallel example over AWS's own library, which replaces NCCL: `parallel: smddp`.

Only its images have the library; everything else is the torchrun example's.
"""

import smdistributed.dataparallel.torch.torch_smddp  # noqa: F401  makes PyTorch know the backend `smddp`
from train_torchrun_digits import main, options

if __name__ == "__main__":
    main(**options(), backend="smddp")
