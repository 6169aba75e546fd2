"""The standalone verifier: damaged bundles, flipped bytes, hostile archives."""
