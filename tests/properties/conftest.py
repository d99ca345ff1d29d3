"""How hypothesis runs here: the same examples every time, and no clock on a busy machine."""

from hypothesis import settings

settings.register_profile("kes", deadline=None, derandomize=True)
settings.load_profile("kes")
