"""What the help of ``sign``, ``certify`` and ``publish`` says, and their examples."""

from __future__ import annotations

SIGN = """\
Check a package, write the statement that names it by its digests, and have ssh-keygen sign
that statement: with a key file, an agent or a hardware key. No private key is read here.
FILE.intoto.json and FILE.intoto.json.sig lie beside the package; who signs it too adds
FILE.intoto.json.2.sig. A record of `verify --record` is signed in the same way, as it is.

A signature says whose key signed, not that anything is right: docs/signing.md.
"""
SIGN_EXAMPLES = """\
examples:
  repropack sign lab.zip --key ~/.ssh/id_ed25519
  repropack sign lab.zip --key ~/.ssh/id_ed25519.pub        the private key is with an agent
  repropack sign lab.zip                                    write the statement, sign elsewhere
  repropack sign record.json --key ~/.ssh/id_ed25519
  repropack check lab.zip --signers FILE --require-signer NAME
"""
CERTIFY = """\
Count what several verifications of one package found: on how many machines it was identical,
and how different they were. Each RECORD was written by `repropack verify --record`. Each
verifier counts once: by the key that signed, else by the facts of the machine. Who differs, or
contradicts himself, is shown and never outvoted. Nothing is run.

The status is 0 where nobody differs and somebody ran all of it, 1 where anybody differs, 4
where there is no answer.
"""
CERTIFY_EXAMPLES = """\
examples:
  repropack certify lab.zip ann.json bob.json
  repropack certify lab.zip records/*.json --signers FILE --page certificate.html
"""
PUBLISH = """\
Check a package and lay out what a site shows beside an article, in a new folder DIR: a front
page, the notebook as a page and as it is, source, results, figures, the package itself with
its signatures, and SHA256SUMS. Pages run no script and fetch nothing; links are relative, so
the folder works anywhere on a site. A file that a browser or server would run is left in the
package, and named. Needs the extra `notebook`.
"""
PUBLISH_EXAMPLES = """\
examples:
  repropack publish lab.zip site/supplement
  repropack publish lab.zip site/supplement --force        replace what was published before
"""
