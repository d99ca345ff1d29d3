"""The page of ``kes app`` in a browser: steps, keys, and what it must never do."""

from tests.unit.app.serving import Served


class AppPage:
    """A page of a server, which complains about errors and foreign requests."""

    def __init__(self, browser, served: Served, **options) -> None:
        options.setdefault("viewport", {"width": 1400, "height": 1000})
        self.served = served
        self.context = browser.new_context(accept_downloads=True, **options)
        self.complaints: list[str] = []
        self.page = self.context.new_page()
        self.page.set_default_timeout(180_000)  # the machine may be busy
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", lambda one: (self.complaints.append(one.message), one.dismiss()))
        self.page.on("console", self._console)
        self.page.on("request", self._request)
        self.page.goto(served.address)
        self.page.wait_for_selector("#step h1")

    def _console(self, message) -> None:
        # A refusal by the server is part of some tests, and the browser logs it.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def _request(self, request) -> None:
        if not request.url.startswith((f"http://{self.served.host}/", "data:", "blob:")):
            self.complaints.append(f"request: {request.url}")

    def go(self, step: str, shown: str = "#step h1") -> None:
        self.page.evaluate(f"location.hash = '#{step}'")
        self.page.wait_for_selector(f'.steps a[href="#{step}"][aria-current]')
        self.page.wait_for_selector(shown)

    def take(self, path) -> None:
        """Upload a table, and wait until it is read."""
        self.page.set_input_files("input[type=file]", path)
        self.page.wait_for_selector("#problem .message")

    def mend(self, label: str) -> None:
        """Press the button that mends an error."""
        before = self.page.inner_text("#problem")
        self.page.click(f"#problem button:has-text('{label}')")
        self.page.wait_for_function(
            "before => document.querySelector('#problem').innerText !== before", arg=before
        )

    def learn(self) -> str:
        """Learn, and wait until it is done; return the name of the result."""
        self.go("learn", "button.main")
        return self.learned(lambda: self.page.click("button.main"))

    def learned(self, start) -> str:
        """Wait for the job that `start` starts: the page may still show an earlier one."""
        before = {job["id"] for job in self.served.ask("GET", "jobs")}
        start()
        while not (new := [j for j in self.served.ask("GET", "jobs") if j["id"] not in before]):
            self.page.wait_for_timeout(50)
        title = f"{new[0]['title']}: {new[0]['out']}"
        told = "title => document.querySelector('#job h2')?.textContent === title"
        self.page.wait_for_function(told, arg=title)
        self.page.wait_for_selector("#job a:has-text('See the result')")
        return new[0]["out"]

    def see_result(self) -> None:
        self.page.click("#job a:has-text('See the result')")
        self.report()

    def report(self):
        """Return the frame of the report, once it is there."""
        self.page.wait_for_selector("iframe.report")
        frame = self.page.frame_locator("iframe.report").first
        frame.locator("#network #shown").wait_for()
        return frame

    def saved(self, label: str) -> str:
        """Save a file by its button; return its name."""
        with self.page.expect_download() as download:
            self.page.click(f"#actions button:has-text('{label}')")
        return download.value.suggested_filename

    def fits(self) -> bool:
        """Tell whether the page needs no scrolling sideways."""
        return self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    def close(self) -> None:
        self.context.close()
        assert not self.complaints


def serious(page) -> list[str]:
    """Return what axe-core finds serious or critical, on the page itself."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"resultTypes": ["violations"], "iframes": False}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{one['id']}: {' '.join(one['nodes'][0]['html'].split())[:120]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
