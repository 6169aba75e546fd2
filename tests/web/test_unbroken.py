"""Numbers and units of a page stay together; nothing that is sent back or copied changes."""

import time

import pytest

from reviews.web.unbroken import NO_BREAK, unbroken


@pytest.mark.parametrize(
    ("html", "text"),
    [
        pytest.param("<p>It is 420 ms.</p>", "<p>It is 420_ms.</p>", id="a unit"),
        pytest.param("<b>+16 %</b>, then", "<b>+16_%</b>, then", id="per cent"),
        pytest.param("<p>≤ 64.0 GiB</p>", "<p>≤_64.0_GiB</p>", id="a sign and a unit"),
        pytest.param("<p>were &lt; 800 tok/s</p>", "<p>were &lt;_800_tok/s</p>", id="a sign that is escaped"),
        pytest.param("<p>12.5 GB/s, 4 d ago</p>", "<p>12.5_GB/s, 4_d ago</p>", id="a rate and an age"),
        pytest.param("<p>1 &gt; −2 s</p>", "<p>1 &gt;_−2_s</p>", id="a number below zero"),
        pytest.param("<p>5 ms <code>p 1</code> 5 ms</p>", "<p>5_ms <code>p 1</code> 5_ms</p>", id="beside code"),
    ],
)
def test_a_figure_is_one_piece(html: str, text: str) -> None:
    assert unbroken(html) == text.replace("_", NO_BREAK)


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("<p>3 ranks, 2 stages, 1 hour</p>", id="words that only begin like a unit"),
        pytest.param('<input value="420 ms"><p>', id="a value"),
        pytest.param("<textarea>at most 420 ms</textarea><p></p>", id="what somebody typed"),
        pytest.param('<script type="application/json">["420 ms"]</script><p></p>', id="data of a chart"),
        pytest.param("<pre>sleep 5 s</pre><code>--for 5 s</code><p></p>", id="what is copied"),
        pytest.param("<select><option>5 s</option></select><p></p>", id="a choice"),
    ],
)
def test_the_rest_stays_as_it_is(html: str) -> None:
    assert unbroken(html) == html


ROW = '<tr class="tbl-row"><td class="tbl-c num">50.0 GiB</td><td title="a > b">no tag ends here 4</td></tr>\n'


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(ROW * (2**20 // len(ROW)), id="many tags"),
        pytest.param(f"<p>{'1 s ' * 2**18}</p>", id="one text"),
        pytest.param(f'<p title="{"1 s " * 2**18}">', id="one value"),
    ],
)
def test_a_page_of_a_megabyte_takes_no_time_to_speak_of(html: str) -> None:
    begin = time.process_time()
    unbroken(html)
    assert time.process_time() - begin < 1
