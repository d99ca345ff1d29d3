"""Shows the options of a search in the signatures that take them together, as Python does."""

from griffe import Extension, Function, Parameter, ParameterKind

from kes.search.options import DEFAULTS, SCORING_DEFAULTS, ScoringOptions, SearchOptions

_TOGETHER = {
    "SearchOptions": (SearchOptions, DEFAULTS),
    "ScoringOptions": (ScoringOptions, SCORING_DEFAULTS),
}


class SearchOptionsExtension(Extension):
    """Puts every option in the place of ``**options: Unpack[SearchOptions]``, or of scoring."""

    def on_function(self, *, func: Function, **kwargs: object) -> None:
        """Change the parameters of a function that has just been read."""
        together = next((p for p in func.parameters if p.name == "options"), None)
        if together is None or together.kind is not ParameterKind.var_keyword:
            return
        del func.parameters["options"]
        named = next(name for name in _TOGETHER if name in str(together.annotation))
        declared, defaults = _TOGETHER[named]
        for name, default in defaults.items():
            annotation = declared.__annotations__[name].__forward_arg__
            kind = ParameterKind.keyword_only
            func.parameters.add(
                Parameter(name, annotation=annotation, kind=kind, default=repr(default))
            )
