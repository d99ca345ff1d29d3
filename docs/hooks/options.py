"""Shows options that are taken together in the signatures that take them, as Python does."""

from functools import reduce
from importlib import import_module
from inspect import signature

from griffe import Extension, Function, Parameter, ParameterKind


class OptionsExtension(Extension):
    """Puts every option in the place of ``**options: Unpack[SomeOptions]``."""

    def on_function(self, *, func: Function, **kwargs: object) -> None:
        """Change the parameters of a function that has just been read."""
        together = next((p for p in func.parameters if p.name == "options"), None)
        if together is None or together.kind is not ParameterKind.var_keyword:
            return
        shown = signature(_of(func.path)).parameters  # of `checked_options`: with the defaults
        if "options" in shown:
            return  # an inner function, which is in no reference
        del func.parameters["options"]
        declared = _of(together.annotation.slice.canonical_path).__annotations__
        for name in [name for name in shown if name in declared]:
            func.parameters.add(
                Parameter(
                    name,
                    annotation=declared[name].__forward_arg__,
                    kind=ParameterKind.keyword_only,
                    default=repr(shown[name].default),
                )
            )


def _of(path: str) -> object:
    """Give the object of a full name."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            module = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        return reduce(getattr, parts[end:], module)
    raise LookupError(path)
