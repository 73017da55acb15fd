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


def pages_of(*contents, resources=b"/Font<</F 3 0 R>>"):
    """A PDF with one page for each content stream, which may use the font /F (Helvetica)."""
    objects = [b"", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids = []
    for content in contents:
        objects.append(stream(content))
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R/Resources<<%s>>>>"
            % (len(objects), resources)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[0] = b"<</Type/Catalog/Pages 2 0 R>>"
    objects[1] = b"<</Type/Pages/Kids[%s]/Count %d>>" % (b" ".join(kids), len(kids))
    return raw_pdf(*objects)


TEXT = b"Thirty-nine thousand people worked for the company at the end of the year."
SCAN = b"q 500 0 0 700 50 50 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q\n"
RULE = b"0.5 w 72 72 m 540 72 l S\n"


def lines(count):
    """A content stream that writes a line of text that often, one below the other."""
    return b"".join(b"BT /F 9 Tf 72 %d Td (%s) Tj ET\n" % (700 - 10 * i, TEXT) for i in range(count))


LINE = lines(1)
