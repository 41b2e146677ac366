#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# check-docs: a tool and a manual that drift apart.
. "$(dirname "$0")/lib.bash"

export TACHO=$tree/tacho
cat >"$TACHO" <<'END'
#!/bin/sh
case "$*" in
"help --list") echo info ;;
"help --settings") printf 'rate\t10\ttimes a second\n' ;;
"info --help") printf 'usage: tacho info [OPTIONS] FILE\n\n  -j, --json   as JSON\n      --all    all of it\n' ;;
*) exit 2 ;;
esac
END
chmod +x "$TACHO"
page='# info
    tacho info [OPTIONS] FILE
`--json`, `--all`: what to show.'
plant docs/settings.md <<<'| `rate` | 10 |'
plant docs/cli/info.md <<<"$page"
accepts check-docs

plant docs/cli/info.md <<<"${page/FILE/PATH}"
refuses 'lacks the usage line' check-docs
plant docs/cli/info.md <<<"${page/--all/--al}"
refuses 'does not mention --all' check-docs
rm "$tree/docs/cli/info.md"
refuses 'docs/cli/info.md: is missing' check-docs
plant docs/cli/info.md <<<"$page"
plant docs/cli/gone.md <<<'# gone'
refuses 'there is no command gone' check-docs
rm "$tree/docs/cli/gone.md"
plant docs/settings.md <<<'| `rates` | 10 |'
refuses 'does not describe `rate`' check-docs
finish
