"""Shows the options of a search in the signatures that take them together, as Python does."""

from griffe import Extension, Function, Parameter, ParameterKind

from kes.search.options import DEFAULTS, SearchOptions


class SearchOptionsExtension(Extension):
    """Puts every option in the place of ``**options: Unpack[SearchOptions]``."""

    def on_function(self, *, func: Function, **kwargs: object) -> None:
        """Change the parameters of a function that has just been read."""
        together = next((p for p in func.parameters if p.name == "options"), None)
        if together is None or together.kind is not ParameterKind.var_keyword:
            return
        del func.parameters["options"]
        for name, default in DEFAULTS.items():
            annotation = SearchOptions.__annotations__[name].__forward_arg__
            kind = ParameterKind.keyword_only
            func.parameters.add(
                Parameter(name, annotation=annotation, kind=kind, default=repr(default))
            )
