"""What a saved page holds in the fields of its forms is text of it; buttons, passwords and what is not chosen are not."""

import pytest

from citegraph.corpus.readers.web.html import read_html


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<label>Skipper</label><input value='Mara Quist'>", "Skipper Mara Quist"),
        ("<p>Crew: <input type=number value=4> persons</p>", "Crew: 4 persons"),
        ("<p><input type=checkbox checked> Pets <input type=checkbox> Bikes</p>", "☒ Pets ☐ Bikes"),
        ("<p>Paid <input type=radio checked>cash <input type=radio>card</p>", "Paid ☒ cash ☐ card"),
        ("<p>Berth <select><option>A1</option><option selected>B7</option></select></p>", "Berth B7"),
        ("<p>Berth <select><option>A1</option><option>B7</option></select></p>", "Berth"),
        ("<p>Note <textarea>Sails\non Monday</textarea></p>", "Note Sails on Monday"),
        ("<table><tr><td>Port</td><td><input value=Brest></td></tr></table>", "Port | Brest"),
        (
            "<p>Log in <input type=password value=x><input type=submit value=Go><button>Go</button></p>",
            "Log in",
        ),
    ],
)
def test_fields_are_read_where_they_stand(markup: str, text: str) -> None:
    assert " ".join(read_html(markup)[0].split()) == text
