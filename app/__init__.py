"""An interactive exhibit about one idea: FlashAttention never sends the N×N score matrix to memory."""

__version__ = "0.1.0"
