"""Long or numerous things fit: states, names of models, lines of code, tables."""

import numpy as np
import pandas as pd
import pytest
from tests.browser.reading import until

import kes


def test_many_states_are_shown_by_their_share_and_the_rest_on_demand(open_page, tmp_path):
    """Thirty states, of which the last are the most frequent; one has a long name."""
    rng = np.random.default_rng(0)
    names = [f"s{i:02}" for i in range(29)] + ["t" * 60]
    x = np.repeat(names, np.arange(1, 31) * 4)
    frame = pd.DataFrame(
        {"x": x, "y": np.where(rng.random(len(x)) < 0.1, "a", np.where(x > "s25", "b", "c"))}
    )
    optima = kes.learn(frame, runs=2, knowledge=kes.Knowledge(required=[("y", "x")]))
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")

    def shown(box):
        return box.locator(".state").all_inner_texts()

    card = page.locator("#variables .variable", has=page.locator("bdi:text-is('x')"))
    assert shown(card) == names[-6:]
    assert card.locator(".state").last.get_attribute("title") == names[-1]
    card.locator("text=and 24 more").click()
    assert shown(card) == names
    assert not card.locator(".more").count()

    page.select_option("#target-choice", label="x")
    about = page.locator("#answers .sides > div").first.locator(".bars")
    assert shown(about) == names[-10:]
    about.locator("text=and 20 more").click()
    assert shown(about) == names

    page.select_option("#target-choice", label="y")
    own = page.locator("#answers .variable[data-node='0']")
    assert shown(own) == names  # they stay open
    page.reload()
    page.select_option("#target-choice", label="y")
    assert shown(own) == names[-10:]
    own.locator("text=and 20 more").click()
    own.locator("[data-state='0']").click()
    assert own.locator("[data-state='0']").get_attribute("aria-pressed") == "true"
    assert len(shown(own)) == 30


@pytest.mark.parametrize("width", [420, 1400])
def test_the_name_of_a_model_is_not_cut(open_page, report, width):
    """As wide as the select would be if nothing held it back, or as the screen has place."""
    page = open_page(report, viewport={"width": width, "height": 900})
    wide, free, room = page.evaluate(
        """() => {
            const select = document.getElementById("first"), wide = select.offsetWidth;
            const room = select.closest(".controls").clientWidth;
            select.style.position = "absolute";
            select.style.maxWidth = "none";
            return [wide, select.offsetWidth, room];
        }"""
    )
    assert wide >= free - 1 or wide > room - 80
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_long_lines_of_code_say_so(open_page, report):
    page = open_page(report, viewport={"width": 420, "height": 900})
    for code in ("#reproduce pre", "#query"):
        line = page.locator(code).first
        line.scroll_into_view_if_needed()
        hint = line.locator("xpath=preceding-sibling::*[1]")
        assert hint.inner_text() == "scroll sideways →"
        assert "sideways" not in line.inner_text()  # which is what people copy
    page.set_viewport_size({"width": 1400, "height": 900})
    page.wait_for_selector("#reproduce .scroll-hint", state="hidden")


def test_tables_wider_than_the_screen_say_so(open_page, report):
    page = open_page(report, viewport={"width": 420, "height": 900})
    box = page.locator("#edges .wide")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    assert box.locator(".scroll-hint").is_visible()
    page.set_viewport_size({"width": 1400, "height": 900})
    until(page, "document.querySelector('#edges .scroll-hint').hidden")


def test_how_well_a_target_is_predicted_fits_a_narrow_screen(open_page, tmp_path):
    """The table, with an average of networks beside the best, scrolls by itself and is whole."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"a": a, "b": np.where(rng.random(300) < 0.8, a, 1 - a)})
    kes.learn(frame, runs=2, target="b").report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html", viewport={"width": 420, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    page.evaluate("document.querySelectorAll('#target details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    page.set_viewport_size({"width": 1400, "height": 900})
    curve, *tables = (
        page.locator(f".beside > {one}").bounding_box()
        for one in ("svg", "table >> nth=0", "table >> nth=1")
    )
    assert all(one["y"] < curve["y"] + curve["height"] for one in tables), "in one row"
    head, last = (page.locator(f"#target .scroll tr >> nth={i}").bounding_box() for i in (0, -1))
    assert last["y"] > head["y"]  # not in a second column of the text
