"""What programs write: in whatever encoding, with whatever ends of lines, in Fortran's numbers too."""

from __future__ import annotations

import codecs

import pytest

from zoviz.core.errors import OracleError
from zoviz.evaluation.program_io import decoded, outputs, read

TEXT = "0.5 -2\n"
ENCODED = {
    "plain": TEXT.encode(),
    "UTF-8 with a mark": codecs.BOM_UTF8 + TEXT.encode(),
    "UTF-16": TEXT.encode("utf-16"),
    "UTF-16, the other way round": codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    "UTF-16 without a mark": TEXT.encode("utf-16-le"),
    "UTF-16 without a mark, the other way round": TEXT.encode("utf-16-be"),
    "UTF-32": TEXT.encode("utf-32"),
    "Windows": b"0.5 -2\r\n",
    "PowerShell": "0.5 -2\r\n\r\n".encode("utf-16"),
    "an old Mac": b"0.5 -2\r",
    "MS-DOS": b"0.5 -2\r\n\x1a",
    "a record of a fixed length": b"0.5 -2\0\0\0",
    "wide spaces": "\u00a00.5\u2003-2".encode(),
    "an empty line first": b"\r\n0.5 -2\r\n",
}


@pytest.mark.parametrize("form", ["text", "nomad"])
@pytest.mark.parametrize("name", ENCODED)
def test_numbers_are_read_however_they_are_encoded(name: str, form: str) -> None:
    value = read(decoded(ENCODED[name]), form, outputs(None, 1), "on standard output")
    assert (float(value.f), *value.h) == (0.5, -2.0)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_json_is_read_however_it_is_encoded(encoding: str) -> None:
    data = '{"f": 0.5,\r\n "h": [-2]}\r\n'.encode(encoding)
    value = read(decoded(data), "json", outputs(None, 1), "on standard output")
    assert (float(value.f), *value.h) == (0.5, -2.0)


@pytest.mark.parametrize(
    ("word", "number"), [("1.5-103", 1.5e-103), ("-.25+101", -0.25e101), ("1D-3", 1e-3), ("2.d+100", 2e100)]
)
def test_fortrans_numbers(word: str, number: float) -> None:
    assert float(read(word, "text", outputs(None, 0), "on standard output").f) == number


@pytest.mark.parametrize(
    "text", ["0.5 -2 done", "0.5 -2\nElapsed: 3 s", "0,5 -2", "1.5-10 2", "***** 1", "0.5 -2\ufffd"]
)
def test_what_else_is_written_is_refused_and_not_guessed(text: str) -> None:
    with pytest.raises(OracleError, match="Expected (2 )?numbers"):
        read(text, "text", outputs(None, 1), "on standard output")
