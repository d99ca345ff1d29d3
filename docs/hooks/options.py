"""Show declared options in the reference: signatures and docstrings as Python has them."""

import inspect
from functools import reduce
from importlib import import_module

from griffe import Class, Extension, Function, Parameter, ParameterKind


class OptionsExtension(Extension):
    """Replace ``**options: Unpack[SomeOptions]`` by the options, with their documentation."""

    def on_function(self, *, func: Function, **kwargs: object) -> None:
        """Complete a function after griffe has read its source."""
        options = next((p for p in func.parameters if p.name == "options"), None)
        if options is None or options.kind is not ParameterKind.var_keyword:
            return
        documented = _resolve(func.path)
        shown = inspect.signature(documented).parameters
        if "options" in shown:
            return  # an inner function, which is not in the reference
        del func.parameters["options"]
        for name, parameter in shown.items():
            if name not in func.parameters:
                func.parameters.add(
                    Parameter(
                        name,
                        annotation=str(parameter.annotation),
                        kind=ParameterKind.keyword_only,
                        default=repr(parameter.default),
                    )
                )
        if func.docstring is not None:
            func.docstring.value = inspect.getdoc(documented) or func.docstring.value

    def on_class_members(self, *, cls: Class, **kwargs: object) -> None:
        """Complete a class whose constructor takes options."""
        if cls.docstring is not None and "__init__" in cls.members:
            cls.docstring.value = inspect.getdoc(_resolve(cls.path)) or cls.docstring.value


def _resolve(path: str) -> object:
    """Return the object of a full name."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            module = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        return reduce(getattr, parts[end:], module)
    raise LookupError(path)
