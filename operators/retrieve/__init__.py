"""Finding rounds: lanes score units, fusion ranks rounds, assembly adds their neighbours."""
