"""`honeyguide completion`."""

from __future__ import annotations

from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a completion script for a shell.

    - bash: honeyguide completion bash > ~/.local/share/bash-completion/completions/honeyguide
    - zsh: honeyguide completion zsh > ~/.zfunc/_honeyguide, with ~/.zfunc in fpath
    - fish: honeyguide completion fish > ~/.config/fish/completions/honeyguide.fish

    Args:
        shell: Which shell.
    """
    from honeyguide.cli.verbs import build_app

    print(build_app().generate_completion(shell=shell), end="")
