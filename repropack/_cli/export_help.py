"""What the help of ``export`` says, and its examples."""

from __future__ import annotations

EXPORT = """\
Check a package, then write what an archive wants of it. Nothing of it is run.

  bagit      a bag (BagIt 1.0) whose payload is the whole package, for institutional archives
  zenodo     the metadata of a deposit, as .zenodo.json
  codecheck  a draft of codecheck.yml, for the codechecker to complete
  swhid      the identifiers of source and package at Software Heritage; shown without -o

All of it follows from the package and what its author says there. Where a deposit requires what
the author does not say, nothing is written, and status 1 and each missing key are the answer.
"""
EXPORT_EXAMPLES = """\
examples:
  repropack export lab.zip --to bagit -o lab-bag
  repropack export lab.zip --to zenodo -o .zenodo.json
  repropack export lab.zip --to codecheck -o codecheck.yml --verification verification.json
  repropack export lab.zip --to swhid
"""
