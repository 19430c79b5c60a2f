"""Nothing that the API says to a token tells where the files of the server lie."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from engine.models import Document, Passage
from tests.adapters.web.conftest import HERE, Api

FOLDER = "/srv/secret-folder"


async def add_file(api: Api, name: str) -> None:
    address, text = f"{FOLDER}/{name}", "The tram stops at the harbor."
    passage = Passage("1", text, link=f"file://{address}#page=1")
    document = Document(f"file:{address}", HERE, f"{HERE}:room", name, (passage,), link=f"file://{address}")
    await api.engine.documents.add(document)
    await api.engine.wait_until_indexed()


async def test_files_are_listed_read_cited_summarized_and_forgotten_without_their_paths(api: Api) -> None:
    await add_file(api, "tram.md")
    listed = await api.call("GET", "/api/v1/documents?search=tram")
    [document] = listed.json()["documents"]
    address = f"/api/v1/documents/{quote(document['key'], safe='')}"
    said = [
        listed,
        await api.call("GET", address),
        await api.call("POST", "/api/v1/query", body={"question": "Where does the tram stop?"}),
        await api.call("POST", "/api/v1/query/data", body={"question": "Where does the tram stop?"}),
        await api.call("POST", "/api/v1/summaries", body={"document": document["key"]}),
        await api.call("GET", f"/api/v1/graph/entity?name={quote('tram')}"),
        await api.call("GET", "/api/v1/documents/missing"),
    ]
    assert [each.status_code for each in said[:5]] == [200] * 5
    assert "harbor" in said[1].text
    assert "harbor" in said[2].text
    assert [each.text for each in said if "secret-folder" in each.text] == []
    assert (await api.call("DELETE", address)).status_code == 204


async def test_a_file_that_cannot_be_read_is_named_without_the_folder_of_uploads(api: Api, tmp_path: Path) -> None:
    headers = {"Authorization": f"Bearer {api.token}"}
    files = {"file": ("broken.pdf", b"%PDF-1.7 nonsense")}
    response = await api.client.post("/api/v1/documents", files=files, headers=headers)
    assert response.status_code >= 400
    assert str(tmp_path) not in response.text
    assert "uploads" not in response.text
