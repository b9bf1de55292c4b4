"""What a site may show: no file that a browser or server would run."""

from __future__ import annotations

import time

import pytest

from repropack._format.inert import MAX_SVG_BYTES, is_still_svg, why_left_out

SVG = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
PICTURE = f"""<?xml version="1.0"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg {SVG}><metadata><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:x r:about=""/>
</r:RDF></metadata><defs><style type="text/css">*{{stroke-linejoin: round}}</style></defs>
<g clip-path="url(#a)"><use xlink:href="#b" style="fill: url('#c')"/><text>a url of x</text>
<image xlink:href="data:image/png;base64,AAAA"/></g></svg>"""


@pytest.mark.parametrize(
    "path",
    ["source/train.py", "LICENSE", "runs/reference/outputs/a.CSV", "inputs/x.tar.gz", "plan.json"],
)
def test_plain_files_are_shown(path: str) -> None:
    """Source, documents, tables, arrays and pictures."""
    assert why_left_out(path, b"plain") is None


@pytest.mark.parametrize(
    ("path", "head", "why"),
    [
        ("source/a.html", b"", "may run files of this name"),
        ("source/a.php.txt", b"", "may run files of this name"),
        ("source/a.HTM", b"", "may run files of this name"),
        ("source/a.xml", b"", "may run files of this name"),
        ("source/.htaccess", b"", "begins with a dot"),
        ("source/.d/a.txt", b"", "begins with a dot"),
        ("source/a.xyz", b"", "not known"),
        ("source/a.js", b"", "not known"),
        ("source/a.txt", b"\xef\xbb\xbf \n<script>", "begins with `<`"),
        ("source/README", b"<!doctype html>", "begins with `<`"),
        ("source/README", b"\x0b\x00 <html>", "begins with `<`"),
    ],
)
def test_what_could_be_run_is_left_out(path: str, head: bytes, why: str) -> None:
    """By its name, anywhere in it, and by how it begins."""
    assert why in str(why_left_out(path, head))


def test_a_picture_that_draws_is_still() -> None:
    """As matplotlib writes it, with metadata, styles and links within."""
    assert is_still_svg(PICTURE.encode())


@pytest.mark.parametrize(
    "svg",
    [
        f"<svg {SVG}><script>x</script></svg>",
        f"<svg {SVG}><style>g{{background:image-set('https://x' 1x)}}</style></svg>",
        f"<svg {SVG}><g style=\"mask: -webkit-image-set('https://x' 1x)\"/></svg>",
        f"<svg {SVG}><style>g{{fill:u<desc/>rl(https://x)}}</style></svg>",
        f"<svg {SVG}><style>g{{fill:u/**/rl(https://x)}}</style></svg>",
        f"<svg {SVG}><style>g{{{'a' * 8190}url(https://x)}}</style></svg>",
        f"<svg {SVG}><style>@font-face{{src:local(x)}}</style></svg>",
        f'<svg {SVG} onload="x"/>',
        f'<svg {SVG}><g ONCLICK="x"/></svg>',
        f'<svg {SVG}><a xlink:href="https://x"><g/></a></svg>',
        f'<svg {SVG}><use xlink:href="https://x/a.svg#b"/></svg>',
        f'<svg {SVG}><use href="data:image/svg+xml;base64,AA"/></svg>',
        f'<svg {SVG}><image xlink:href="https://x/a.png"/></svg>',
        f"<svg {SVG}><foreignObject/></svg>",
        f'<svg {SVG}><animate attributeName="href"/></svg>',
        f"<svg {SVG}><style>@import 'https://x'</style></svg>",
        f'<svg {SVG}><g style="fill: url( https://x )"/></svg>',
        f'<svg {SVG}><g style="fill: u\\72l(https://x)"/></svg>',
        f'<svg {SVG}><x:body xmlns:x="http://www.w3.org/1999/xhtml"/></svg>',
        f"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg {SVG}>&a;</svg>",
        f"<?xml-stylesheet href='x'?><svg {SVG}/>",
        "<svg/>",
        "<svg",
        "",
    ],
)
def test_a_picture_that_does_more_is_not(svg: str) -> None:
    """Scripts, events, links, references, animations, other languages, entities."""
    assert not is_still_svg(svg.encode())


def test_a_huge_picture_is_not_read() -> None:
    """It is left out."""
    assert not is_still_svg(PICTURE.encode() + b" " * MAX_SVG_BYTES)


@pytest.mark.parametrize("text", [" " * 200_000, "a" * 200_000, "rgb ( " * 30_000, "a-\t" * 60_000])
def test_a_style_is_read_in_one_pass(text: str) -> None:
    """Blanks and letters that might stand before a parenthesis are not read again and again."""
    start = time.process_time()
    assert is_still_svg(f"<svg {SVG}><style>{text}</style></svg>".encode())
    assert not is_still_svg(f"<svg {SVG}><style>{text}evil (</style></svg>".encode())
    assert time.process_time() - start < 5
