"""Servers in folders of their own."""

import numpy as np
import pandas as pd
import pytest
from tests.unit.app.serving import Served


def clinic(rows=150):
    """A mixed table with an identifier, gaps and a name that needs care."""
    rng = np.random.default_rng(0)
    age = rng.normal(50, 15, rows).round()
    smoker = np.where(rng.random(rows) < 0.3, "yes", "no")
    pressure = 100 + 0.5 * age + np.where(smoker == "yes", 8, 0) + rng.normal(0, 5, rows)
    columns = {"id": np.arange(rows) + 100, "age": age, "smoker": smoker}
    table = pd.DataFrame(columns | {"pressure, mmHg": pressure.round(1)})
    table.loc[rng.random(rows) < 0.1, "pressure, mmHg"] = np.nan
    return table


@pytest.fixture(scope="session")
def clinic_csv():
    return clinic().to_csv(index=False).encode()


@pytest.fixture
def start(tmp_path):
    """Return a function that serves a folder; all servers end with the test."""
    started = []

    def serve(*options, folder=tmp_path, before=None):
        started.append(Served(folder, *options, before=before))
        return started[-1]

    yield serve
    for one in started:
        if one.process.poll() is None:
            one.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory, clinic_csv):
    folder = tmp_path_factory.mktemp("app") / "study"
    folder.mkdir()
    (folder / "clinic.csv").write_bytes(clinic_csv)
    one = Served(folder, "--max-upload", "1")
    yield one
    one.close()
