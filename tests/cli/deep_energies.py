"""What tests with TorchScript files share."""

import functools
import subprocess

import saltus_cli


@functools.cache
def has_torch():
    """Whether the program was built with libtorch and Python can make scripts."""
    trial = subprocess.run([saltus_cli.program, "sample", "none.pt", "--domain", "binary", "--dim", "1"], capture_output=True)
    if b"built without libtorch" in trial.stderr:
        return False
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def save_linear(path, dim):
    """log p = sum of (0.3 i - 0.5) x_i: independent bits."""
    import torch

    class Linear(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(0.3 * torch.arange(dim, dtype=torch.float32) - 0.5)

        def forward(self, x):
            return (x * self.w).sum(1)

    torch.jit.script(Linear()).save(path)
