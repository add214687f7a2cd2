from docs import figures


def test_a_page_shows_the_figure_that_suits_it():
    page = figures.on_page_markdown("![The law](../assets/how/minima.svg) and ![x](other.svg)")
    assert page == (
        "![The law](../assets/how/minima.svg#only-light)![The law](../assets/how/minima-dark.svg#only-dark) "
        "and ![x](other.svg)"
    )


def test_a_figure_for_the_dark_has_light_text_and_no_ground():
    light, dark = (
        figures.draw("assets/how/controller.svg"),
        figures.draw("assets/how/controller.svg", dark=True),
    )
    assert figures.INK.encode() in dark
    assert figures.INK.encode() not in light
    assert b"fill: #ffffff" not in dark
