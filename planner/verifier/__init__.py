"""The standalone verifier: ``verify.py`` is one file that needs nothing else of Topogate and goes into every bundle."""
