"""The report in the frame that a notebook shows: it works, and nothing gets out."""

import pytest


@pytest.fixture(scope="module")
def path(optima, tmp_path_factory):
    """A page as a notebook has it: an output of `show`, below a secret of the page itself."""
    path = tmp_path_factory.mktemp("inline") / "notebook.html"
    path.write_text(f"<p id='secret'>42</p>{optima.show()._repr_html_()}", encoding="utf-8")
    return path


@pytest.fixture
def notebook(browser, path):
    context = browser.new_context(viewport={"width": 1000, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(20_000)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    page.frame_locator("iframe").locator("#optima tbody tr").first.wait_for(state="attached")
    yield page
    context.close()
    own = ("data:", "blob:", "about:")
    assert [url for url in requests if url != path.as_uri() and not url.startswith(own)] == []


def test_files_can_be_saved(notebook):
    report = notebook.frame_locator("iframe")
    for kind in ("SVG", "PNG", "BIF", "JSON"):
        with notebook.expect_download() as saved:
            report.get_by_role("button", name=kind, exact=True).first.click()
        assert saved.value.suggested_filename.endswith(f".{kind.lower()}")


def test_questions_are_answered(notebook):
    report = notebook.frame_locator("iframe")
    report.locator("#target-choice").select_option(label="HR")
    assert report.locator("#target-name").inner_text().startswith("HR")


def test_the_report_cannot_read_the_notebook(notebook):
    inside = notebook.locator("iframe").element_handle().content_frame()
    tried = "() => { try { return parent.document.body.innerText } catch (e) { return e.name } }"
    assert inside.evaluate(tried) == "SecurityError"
    assert notebook.locator("#secret").inner_text() == "42"
