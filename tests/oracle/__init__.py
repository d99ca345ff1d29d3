"""The engine held to the definitions: models with few nodes, enumerated completely."""
