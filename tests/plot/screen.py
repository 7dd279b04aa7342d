"""A backend with a screen that is a list: matplotlib takes it as "module://tests.plot.screen"."""

from typing import Any

from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

shown: list[Figure] = []  # by each plt.show(), what was open


class FigureManager(FigureManagerBase):
    """Notes down what is shown."""

    @classmethod
    def pyplot_show(cls, **kwargs: Any) -> None:
        """What plt.show() does."""
        shown.extend(manager.canvas.figure for manager in Gcf.get_all_fig_managers())


class FigureCanvas(FigureCanvasAgg):
    """Draws as usual."""

    manager_class = FigureManager
