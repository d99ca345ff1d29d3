"""A seal on the jobs of the folder: only what this user's server has written is ever started.

A folder may come from elsewhere, with a `.kes-app` in it. The seal is a keyed hash; the key is a
file that only the user can read, outside all folders that the page works in.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from functools import lru_cache
from pathlib import Path

import click

_BYTES = 32


def seal(content: object) -> str:
    """Return the seal of a content, which must be JSON."""
    said = json.dumps(content, sort_keys=True).encode()
    return hmac.new(_key(key_file()), said, hashlib.sha256).hexdigest()


def is_sealed(content: object, given: object) -> bool:
    """Return whether a seal is that of the content."""
    return isinstance(given, str) and hmac.compare_digest(seal(content).encode(), given.encode())


def key_file() -> Path:
    """Return the file of the key."""
    return Path(click.get_app_dir("kes")) / "app.key"


@lru_cache
def _key(path: Path) -> bytes:
    """Return the key, made on first use; one for this server only if it cannot be stored."""
    fresh = secrets.token_bytes(_BYTES)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(fresh)
    except FileExistsError:
        kept = path.read_bytes() if os.access(path, os.R_OK) else b""
        return kept if len(kept) == _BYTES else fresh
    except OSError:
        pass
    return fresh
