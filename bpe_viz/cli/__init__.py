"""Every command of `bpe-viz`; the window's code is imported only when a window is wanted.

A command is imported when it is called, so that `bpe-viz --help` answers at once.
"""

from __future__ import annotations

import difflib
import gc
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click

from bpe_viz.cli.terminal import (
    INTERRUPTED,
    STOPPED,
    flush_output,
    forget_output,
    open_closed_streams,
    tell,
    unwritable_output,
)
from bpe_viz.errors import BpeVizError

COMMANDS = ("train", "encode", "decode", "explain", "info", "convert", "count", "snapshot")
"""Each is a module of this package that holds it as `command`."""

USER_MISTAKE = 2


class _InterruptedError(Exception):
    """Ctrl+C, told apart from click's own Abort, which prints an empty line."""


class _Commands(click.Group):
    """Imports a command when it is wanted; whatever is no command is a SOURCE for the window."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in COMMANDS:
            return super().resolve_command(ctx, args)
        return "window", _window, args

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*arguments, **extra)
        except KeyboardInterrupt:
            raise _InterruptedError from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _InterruptedError from None

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage("bpe-viz", "[SOURCE ...]")
        formatter.write_usage("bpe-viz", "COMMAND [ARGS]...")


def _version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"bpe-viz {version('bpe-viz')}")
        ctx.exit()


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show it and exit.")
@click.pass_context
def bpe_viz(ctx: click.Context) -> None:
    """Watch byte-pair encoding happen.

    Opens the window on the SOURCEs: text files, folders, or word-count tables to train on; a tokenizer, which is a
    file, tiktoken:NAME or hf:ORG/NAME; or both, to replay its merges on the text. A SOURCE that is named like a command
    is given as ./NAME.

    Example: bpe-viz novel.txt
    """
    if ctx.invoked_subcommand is None:
        _open_window(())
    elif ctx.invoked_subcommand in COMMANDS:
        # A command makes next to no rings of objects; looking for them would take a fourteenth of a training.
        gc.set_threshold(1_000_000)


@click.command("window", add_help_option=False)
@click.argument("sources", nargs=-1)
def _window(sources: tuple[str, ...]) -> None:
    for source in sources:
        _check_source(source)
    _open_window(sources)


def _check_source(source: str) -> None:
    """Refuse what is neither a file nor a name before a window opens. Raises UsageError, OptionError."""
    from bpe_viz.names import check_name, is_name
    from bpe_viz.names.paths import suggested_name

    if is_name(source):
        check_name(source)
        return
    if source == "-" or os.path.lexists(source):
        return
    if name := suggested_name(source):
        raise click.UsageError(f"There is no file {source}. {name}")
    near = difflib.get_close_matches(source, COMMANDS, n=1)
    question = f" Did you mean the command {near[0]}?" if near else " bpe-viz --help lists the commands."
    raise click.UsageError(f"There is no file {source}.{question}")


def _open_window(sources: Sequence[str]) -> None:
    from bpe_viz.gui.app import run

    sys.exit(run(sources))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status. A user's mistake is one line on standard error."""
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A console that lacks a character gets an escape instead of an error.
            stream.reconfigure(errors="backslashreplace")
    try:
        result = bpe_viz.main(args=arguments, prog_name="bpe-viz", standalone_mode=False)
        flush_output()
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        return _fail(error.format_message())
    except BpeVizError as error:
        return _fail(str(error))
    except (_InterruptedError, click.Abort):
        tell(STOPPED)
        return INTERRUPTED
    except BrokenPipeError:
        forget_output()
        return 0
    except OSError as error:
        # What click prints itself, such as help.
        if any(
            frame.f_globals["__name__"] == click.echo.__module__ for frame, _ in traceback.walk_tb(error.__traceback__)
        ):
            return _fail(str(unwritable_output(error)))
        raise
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1


def _fail(message: str) -> int:
    tell(f"bpe-viz: {' '.join(message.split())}")
    return USER_MISTAKE
