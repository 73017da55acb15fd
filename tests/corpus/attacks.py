"""Hostile PDFs of a few hundred bytes, made on the spot."""


def raw_pdf(*objects):
    """A PDF of these objects, numbered from 1, the first of which is the catalogue."""
    out, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return out


def stream(data, entries=b""):
    """A stream object without compression."""
    return b"<<%s/Length %d>>\nstream\n%s\nendstream" % (entries, len(data), data)


def one_page(content, *more):
    """A PDF of one page; further objects are numbered from 6, /X is object 6, /F is Helvetica."""
    page = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        b"/Resources<</XObject<</X 6 0 R>>/Font<</F 5 0 R>>>>>>"
    )
    return raw_pdf(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        page,
        stream(content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *more,
    )


def self_referring_form():
    """A form that draws itself twice: 2^depth forms, for which PDFium takes memory without end."""
    entries = b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]"
    entries += b"/Resources<</XObject<</X 6 0 R>>/Font<</F 5 0 R>>>>"
    return one_page(b"/X Do", stream(b"BT /F 9 Tf (form) Tj ET /X Do /X Do", entries))
