"""The version of the code, where everything may import it from."""

VERSION = "0.2.0"
