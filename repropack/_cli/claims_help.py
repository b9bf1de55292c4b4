"""The words of ``--help`` for the verbs about claims."""

VALUES = """\
Print the value of each claim that a package makes, for a write-up that takes it in: LaTeX
macros, a table in Markdown, CSV or JSON. Each value stands there as it is printed, rounded
by its rule, and in full. The package is checked first and nothing of it is executed.
"""
VALUES_EXAMPLES = """\
examples:
  repropack values lab.zip
  repropack values lab.zip --format tex --output values.tex
"""
PROOFREAD = """\
Hold the marked numbers of an article against the claims of a package: Markdown, HTML, LaTeX
or a notebook, by its extension. A mark is <!-- claim: ID -->0.0215<!-- /claim -->, in LaTeX
\\claim{ID}{0.0215} or a macro of `repropack values`. A number that is not its claim's, an
unknown id, a claim that does not hold and an article without any mark end with status 1. Numbers
without a mark that are nearly a claim's, and claims that are never used, change nothing.
"""
PROOFREAD_EXAMPLES = """\
example:
  repropack proofread lab.zip article.md
"""
