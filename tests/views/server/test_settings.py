"""The settings of a server: options come before the environment, and wrong ones get a sentence."""

from __future__ import annotations

from pathlib import Path

import param
import pytest

from zoviz.cli.main import parser
from zoviz.runs.live_runs import Limits
from zoviz.views.server.settings import ServerSettings, option_of, variable_of


def test_an_option_comes_before_its_variable_and_that_before_the_default() -> None:
    environment = {"ZOVIZ_PORT": "80", "ZOVIZ_RUNS": "40", "ZOVIZ_OWNERS": "yes", "ZOVIZ_USER_HEADER": "X-User"}
    environment |= {"ZOVIZ_ALLOW_ORIGIN": "lab:5006, lab", "ZOVIZ_MEMORY": "2.5", "ZOVIZ_TURNS": ""}
    settings = ServerSettings.read({"port": "5010", "owners": None}, environment)
    assert (settings.port, settings.owners, settings.allow_origin, settings.turns) == (
        5010,
        True,
        ["lab:5006", "lab"],
        None,
    )
    assert settings.limits == Limits(runs=40, memory=2.5) and ServerSettings.read({}, {}).limits == Limits()
    assert not ServerSettings.read({"owners": False}, environment).owners


def test_every_setting_is_an_option_of_the_command() -> None:
    words = {"port": "1", "allow_origin": "lab", "grace": "3", "memory": "1"}
    whole = {"port": 1, "allow_origin": ["lab"], "memory": 1.0, "grace": 3.0}
    values, wanted = {}, {}
    command_line = parser()
    for name in ServerSettings.names():
        kind = ServerSettings.param[name]
        text = [] if isinstance(kind, param.Boolean) else [words.get(name, "7")]
        args = command_line.parse_args(["serve", option_of(name), *text])
        users = {} if name == "basic_auth" else {"user_header": "X-User"}
        values[name] = ServerSettings.read(users | {name: getattr(args, name)}, {}).param.values()[name]
        wanted[name] = whole.get(name, True if not text else "7" if isinstance(kind, param.String) else 7)
    assert values == wanted


@pytest.mark.parametrize(
    ("options", "environment", "sentence"),
    [
        ({"runs": "many"}, {}, "Expected a whole number from 1 on for --runs, got 'many': most runs at once in all."),
        ({}, {"ZOVIZ_RUNS": "0"}, "Expected a whole number from 1 on for ZOVIZ_RUNS, got '0'"),
        ({}, {"ZOVIZ_OWNERS": "perhaps"}, "Expected yes or no for ZOVIZ_OWNERS, got 'perhaps'"),
        ({"port": "70000"}, {}, "Expected a whole number from 0 to 65535 for --port"),
        ({"address": "0.0.0.0"}, {}, "Expected --basic-auth or --user-header with --address 0.0.0.0, got none"),
        ({"basic_auth": "secret", "user_header": "X-User"}, {}, "got both"),
        ({"basic_auth": "one password", "owners": True}, {}, "anybody could sign in as somebody else"),
        ({"owners": True}, {}, "anybody could sign in as somebody else"),
    ],
)
def test_wrong_settings_get_a_sentence(options: dict, environment: dict, sentence: str) -> None:
    with pytest.raises(ValueError) as error:
        ServerSettings.read(options, environment)
    assert sentence in str(error.value)


def test_a_file_of_users_is_enough_for_owners(tmp_path: Path) -> None:
    users = tmp_path / "users.json"
    users.write_text('{"ann": "secret"}')
    assert ServerSettings.read({"basic_auth": str(users), "owners": True, "address": "0.0.0.0"}, {}).owners


def test_each_variable_is_named_after_its_setting() -> None:
    assert variable_of("runs_per_person") == "ZOVIZ_RUNS_PER_PERSON" and option_of("grace") == "--grace"
