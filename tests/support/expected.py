"""What the replay lab must give on every machine, each number in one place."""

EVIDENCE_DIGEST = "sha256:ee174ccaa476a8dbfa26755bb4546c72c7f4326cacf331f61e5f51eff3fae762"
"""Digest of the lab's plan, source and runs: the same wherever it is built."""

SOURCE_DIGEST = "sha256:28a4a1e902b34a85fe93d1e6c4d5c49122bb10d230039217ddf49aad9119c803"
"""Digest of the lab's source, by which ``verify`` knows it for its own."""

REFERENCE_CHAIN = "sha256:c73fcb885c26bb55a92a81072a97cd801c59661c52f32ceaa5d27e21fe2fca2a"
"""Chain after the last step of the reference."""
