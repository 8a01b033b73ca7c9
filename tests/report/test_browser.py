"""The page in a browser: it draws, answers the mouse, asks the network for nothing."""

import shutil
from itertools import cycle

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from arithmix.report.data import Data, gather
from arithmix.report.page import page
from arithmix.report.panels import panels

from .made import landscape, row, rows
from .test_page import NASTY

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
DRIVER = shutil.which("chromedriver")
BROWSER = CHROMIUM and DRIVER
pytestmark = pytest.mark.skipif(not BROWSER, reason="needs chromium and chromedriver on the path")
FLAGS = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--hide-scrollbars"),
    *("--no-first-run", "--disable-sync", "--disable-background-networking"),
    "--disable-component-update",
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Chromium that finds no host."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    folder = tmp_path_factory.mktemp("profile")
    for flag in [*FLAGS, f"--user-data-dir={folder}", "--host-resolver-rules=MAP * ~NOTFOUND"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The shipped results, an empty database, and rows of units with nasty names."""
    folder = tmp_path_factory.mktemp("pages")
    nasty = [one for name in NASTY for one in rows(name, error=0.1, seeds=1)]
    some = [*rows("dmu", seeds=1), *nasty, row(NASTY[0], stop="dmu")]
    made = {
        "shipped": gather(None, list),
        "empty": Data([]),
        "nasty": Data(some, kept={"landscape/sub/sym": landscape()}),
    }
    for name, data in made.items():
        (folder / f"{name}.html").write_text(page(data), encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in made}


def look(browser, *, width=1400, dark=False):
    """Set the window's width and the theme."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})


def scroll_through(browser):
    """Bring every panel into view, and wait until its visible figures are drawn."""
    for section in browser.find_elements(By.TAG_NAME, "section"):
        assert section.is_displayed() and section.size["height"] > 60
        for chart in section.find_elements(By.CLASS_NAME, "chart"):
            if chart.is_displayed():
                show(browser, chart)
                assert chart.find_elements(By.CSS_SELECTOR, ".main-svg")


def show(browser, chart):
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    WebDriverWait(browser, 20).until(lambda _: "drawn" in chart.get_attribute("class"))


def texts(browser, selector):
    """What elements say, read at one moment: plotly puts others in their place when it redraws."""
    script = """return [...document.querySelectorAll(arguments[0])]
        .map((element) => element.textContent)"""
    return browser.execute_script(script, selector)


def complaints(browser):
    """What the console says, but for advice on drawing in three dimensions without a GPU."""
    return [one["message"] for one in browser.get_log("browser") if one["source"] != "rendering"]


def first_chart(browser, panel):
    chart = browser.find_element(By.CSS_SELECTOR, f"#{panel} .chart")
    show(browser, chart)
    return chart


@pytest.mark.parametrize(
    ("name", "width", "dark"),
    [
        ("shipped", 1400, False),
        ("shipped", 390, True),
        ("empty", 1400, True),
        ("empty", 390, False),
    ],
)
def test_every_panel_is_drawn_without_a_complaint(browser, pages, name, width, dark):
    look(browser, width=width, dark=dark)
    browser.get(pages[name])
    assert len(browser.find_elements(By.TAG_NAME, "section")) == len(panels())
    scroll_through(browser)
    assert complaints(browser) == []
    fetched = "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    assert [one for one in browser.execute_script(fetched) if not one.startswith("data:")] == []
    wide = browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0


def test_hover_tells_the_interval(browser, pages):
    look(browser)
    browser.get(pages["shipped"])
    chart = first_chart(browser, "success")
    shifts = cycle((0, 5, 9))

    def told(_):  # plotly may pass over the first moves of a mouse
        shift = next(shifts)
        ActionChains(browser).move_to_element_with_offset(chart, shift, shift).perform()
        labels = texts(browser, "#success .hoverlayer .hovertext")
        return any("25 solved" in label and "95% interval" in label for label in labels)

    WebDriverWait(browser, 20).until(told)


def test_tabs_show_their_figures(browser, pages):
    look(browser)
    browser.get(pages["shipped"])
    inside = "#success > .tabs > [role={}]"
    tabs = browser.find_elements(By.CSS_SELECTOR, inside.format("tablist") + " > [role=tab]")
    assert len(tabs) == 4
    for tab in tabs:
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", tab)
        tab.click()
        shown = browser.find_elements(By.CSS_SELECTOR, inside.format("tabpanel"))
        shown = [one for one in shown if one.is_displayed()]
        assert [one.get_attribute("aria-labelledby") for one in shown] == [tab.get_attribute("id")]
        charts = shown[0].find_elements(By.CLASS_NAME, "chart")
        assert charts
        for chart in charts:
            show(browser, chart)
            width = "return arguments[0].querySelector('.main-svg').getBoundingClientRect().width"
            assert browser.execute_script(width, chart) > 200
    assert complaints(browser) == []


def test_a_chosen_inner_tab_stays_chosen_beside(browser, pages):
    look(browser)
    browser.get(pages["shipped"])

    def click(name):
        (tab,) = [
            one
            for one in browser.find_elements(By.CSS_SELECTOR, "#curves [role=tab]")
            if one.text == name and one.is_displayed()
        ]
        browser.execute_script("arguments[0].click()", tab)

    for name in ("p01", "× mul"):
        click(name)
    chosen = browser.find_elements(By.CSS_SELECTOR, "#curves [aria-selected=true]")
    assert [one.text for one in chosen if one.is_displayed()] == ["× mul", "p01"]
    titles = browser.find_elements(By.CSS_SELECTOR, "#curves h3")
    shown = [one.text for one in titles if one.is_displayed()]
    assert len(shown) == 1 and shown[0].startswith("× on p01")


def test_a_table_that_goes_on_says_so(browser, pages):
    look(browser, width=390)
    browser.get(pages["shipped"])
    marks = """const scroll = document.querySelector('#universal .scroll');
        const frame = scroll.parentElement;
        return [getComputedStyle(frame, '::before').content, frame.className]"""

    def marked(*, wide, more):
        def there(_):
            hint, names = browser.execute_script(marks)
            return ("scroll" in hint, "more-right" in names) == (wide, more)

        return there

    wait = WebDriverWait(browser, 20)
    wait.until(marked(wide=True, more=True))
    browser.execute_script("document.querySelector('#universal .scroll').scrollLeft = 9999")
    wait.until(marked(wide=True, more=False))
    look(browser)
    wait.until(marked(wide=False, more=False))


def test_figures_follow_the_theme(browser, pages):
    look(browser)
    browser.get(pages["empty"])
    first_chart(browser, "thresholds")
    fills = """return [...document.querySelectorAll('#thresholds .xtick text')]
        .map((label) => getComputedStyle(label).fill)"""
    light = set(browser.execute_script(fills))
    assert len(light) == 1
    look(browser, dark=True)
    # While it is drawn anew the figure has no labels.
    ink = WebDriverWait(browser, 20).until(lambda _: set(browser.execute_script(fills)) - light)
    assert len(ink) == 1


def test_names_stay_text_in_the_browser(browser, pages):
    look(browser)
    browser.get(pages["nasty"])
    browser.execute_script("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    for tab in browser.find_elements(By.CSS_SELECTOR, "[role=tab]"):
        if tab.is_displayed():
            browser.execute_script("arguments[0].click()", tab)
    scroll_through(browser)  # an alert would raise here
    assert not browser.find_elements(By.CSS_SELECTOR, "section script:not([type])")
    assert not browser.find_elements(By.CSS_SELECTOR, "section img")
    text = browser.find_element(By.TAG_NAME, "body").text
    drawn = " ".join(texts(browser, "#success .ytick text"))
    for name in NASTY:
        assert name in text
        assert name[:8] in drawn
    assert complaints(browser) == []
