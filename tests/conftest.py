"""Property tests draw the same examples every time, and none fails for being slow on a busy machine."""

from hypothesis import settings

settings.register_profile("surefoot", deadline=None, derandomize=True)
settings.load_profile("surefoot")
