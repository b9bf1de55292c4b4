"""What the help of ``report`` says."""

from __future__ import annotations

REPORT = """\
Check a package, then write a page of it: the same that lies in it as index.html, made anew by
this release, and naming the package digest. With --verification it also shows what `verify`
found. The page is one file that needs no other and no network. It proves nothing by itself.
"""
REPORT_EXAMPLES = """\
examples:
  repropack report lab.zip
  repropack verify lab.zip --report verification.json
  repropack report lab.zip --verification verification.json -o lab.html
"""
